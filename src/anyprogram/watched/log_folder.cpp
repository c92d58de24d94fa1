// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/log_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(std::string const& path) {
  std::error_code problem;
  std::uintmax_t const size = fs::is_regular_file(path, problem) ? fs::file_size(path, problem) : 0;
  if (size > watch_log::most_bytes) throw Error(ErrorKind::bad_argument, path + " is larger than any log or results.");
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes(size);
  if (in && fs::is_regular_file(path, problem)) {
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
  }
  throw Error(ErrorKind::bad_argument, path + " cannot be read: name a log or results of penstock watch.");
}

/// True if files can be made there; else `problem` is the errno.
bool takes_files(std::string const& folder, int& problem) {
  std::string pattern = folder + "/penstock-XXXXXX";
  Descriptor const file(mkostemp(pattern.data(), O_CLOEXEC));
  problem = errno;
  if (file.number < 0) return false;
  unlink(pattern.c_str());
  return true;
}

std::string sentence_on(watch_log::Notes const& notes) {
  std::string const subject =
      notes.without_log == 1
          ? "Process " + std::to_string(notes.process)
          : std::to_string(notes.without_log) + " processes, the last of them " + std::to_string(notes.process) + ",";
  std::string remedy = "Let --logs or TMPDIR name a folder that all of its processes can write.";
  if (notes.problem == EFBIG) {
    remedy = "A file of its may not be as long as " + size_text(watch_log::least_bytes) + ": raise its ulimit -f.";
  } else if (notes.problem == ENOSPC || notes.problem == EDQUOT) {
    remedy = "Let --logs or TMPDIR name a folder with room.";
  }
  return subject + " used the driver and could make no log: " + std::strerror(notes.problem) + ". " + remedy;
}

}  // namespace

std::uint64_t log_limit(std::string const& size) {
  std::uint64_t const bytes = parse_size(size);
  if (bytes < watch_log::least_bytes || bytes > watch_log::most_bytes)
    throw Error(ErrorKind::bad_argument, "--limit " + size + ": a log takes at least " +
                                             size_text(watch_log::least_bytes) + ", and can be read up to " +
                                             size_text(watch_log::most_bytes) + ". Name a size between these.");
  return bytes;
}

LogFolder::LogFolder(std::string const& name) : path_(name) {
  if (name.empty()) {
    path_ = scratch_.emplace().path();
  } else {
    std::error_code problem;
    fs::create_directories(path_, problem);
    if (problem || !fs::is_directory(path_))
      throw Error(ErrorKind::bad_argument, "--logs " + path_ + ": the folder cannot be made. Name another one.");
    if (!fs::is_empty(path_, problem) || problem)
      throw Error(ErrorKind::bad_argument, "--logs " + path_ + ": the folder is not empty. Name a new one.");
    if (int why = 0; !takes_files(path_, why))
      throw Error(ErrorKind::bad_argument,
                  "--logs " + path_ + ": no file can be made there: " + std::strerror(why) + ". Name another folder.");
    // A process may change its working folder before it uses a GPU.
    path_ = fs::absolute(path_);
  }
  notes_.number = memfd_create("penstock-watch", MFD_CLOEXEC);
  void* room = MAP_FAILED;
  if (notes_.number >= 0 && ftruncate(notes_.number, sizeof *noted_) == 0)
    room = mmap(nullptr, sizeof *noted_, PROT_READ | PROT_WRITE, MAP_SHARED, notes_.number, 0);
  if (room == MAP_FAILED) {
    int const why = errno;
    throw Error(ErrorKind::system, std::string("No memory for what processes note: ") + std::strerror(why) + ".");
  }
  noted_ = static_cast<watch_log::Notes*>(room);
}

LogFolder::~LogFolder() {
  munmap(noted_, sizeof *noted_);
}

std::vector<std::pair<std::string, std::string>> LogFolder::environment(std::uint64_t log_bytes,
                                                                        std::string const& libraries) const {
  return {{"CUDA_INJECTION64_PATH", companion_library("libpenstock-watch.so", libraries)},
          {watch_log::folder_variable, path_},
          {watch_log::limit_variable, std::to_string(log_bytes)},
          {watch_log::notes_variable, "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(notes_.number)}};
}

ReadLogs LogFolder::read() const {
  ReadLogs found;
  std::error_code none;
  std::vector<std::string> paths;
  for (auto const& entry : fs::directory_iterator(path_, none)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (std::string const& path : paths) {
    try {
      found.logs.push_back(read_log_file(path));
    } catch (Error const& error) {
      found.missing.push_back("A log is not among the results. " + std::string(error.what()));
    } catch (std::bad_alloc const&) {
      found.missing.push_back("A log is not among the results. " + path +
                              " takes more memory than there is: name a smaller --limit.");
    }
  }
  std::stable_sort(found.logs.begin(), found.logs.end(),
                   [](WatchLog const& one, WatchLog const& other) { return one.began < other.began; });
  if (noted_->without_log > 0) found.missing.push_back(sentence_on(*noted_));
  return found;
}

WatchLog read_log_file(std::string const& path) {
  try {
    return read_watch_log(bytes_of(path));
  } catch (Error const& error) {
    if (std::string(error.what()).starts_with(path)) throw;
    throw Error(error.kind(), path + ": " + error.what());
  }
}

std::optional<nlohmann::ordered_json> read_results(std::string const& path) {
  std::vector<std::byte> const bytes = bytes_of(path);
  auto const* const text = reinterpret_cast<char const*>(bytes.data());
  if (bytes.empty() || text[0] != '{') return std::nullopt;
  auto all = nlohmann::ordered_json::parse(text, text + bytes.size(), nullptr, false);
  auto const is = [&](char const* member, nlohmann::ordered_json const& value) {
    return all.contains(member) && all.at(member) == value;
  };
  if (all.is_discarded() || !is("kind", "watch") || !is("schema", 1))
    throw Error(ErrorKind::bad_argument, path + " is JSON, but not what this penstock watch --json prints.");
  return all;
}

}  // namespace penstock::cli
