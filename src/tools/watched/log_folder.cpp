// SPDX-License-Identifier: Apache-2.0
#include "tools/watched/log_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "penstock/error.hpp"
#include "tools/command/program.hpp"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

/// A log takes as much memory again while it is read.
constexpr std::uintmax_t most_bytes = std::uintmax_t{4} << 30;

std::vector<std::byte> bytes_of(std::string const& path) {
  std::error_code problem;
  std::uintmax_t const size = fs::is_regular_file(path, problem) ? fs::file_size(path, problem) : 0;
  if (size > most_bytes) throw Error(ErrorKind::bad_argument, path + " is larger than any log or results.");
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes(size);
  if (in && fs::is_regular_file(path, problem)) {
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
  }
  throw Error(ErrorKind::bad_argument, path + " cannot be read: name a log or results of penstock watch.");
}

}  // namespace

LogFolder::LogFolder(std::string const& name) : path_(name), removed_(name.empty()) {
  if (removed_) {
    char const* const chosen = std::getenv("TMPDIR");
    path_ = std::string(chosen != nullptr && *chosen != 0 ? chosen : "/tmp") + "/penstock-watch-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr)
      throw Error(ErrorKind::bad_argument, "No folder can be made as " + path_ + ": " + std::strerror(errno) +
                                               ". Let TMPDIR name a folder that can be written.");
    return;
  }
  std::error_code problem;
  fs::create_directories(path_, problem);
  if (problem || !fs::is_directory(path_))
    throw Error(ErrorKind::bad_argument, "--logs " + path_ + ": the folder cannot be made. Name another one.");
  if (!fs::is_empty(path_, problem) || problem)
    throw Error(ErrorKind::bad_argument, "--logs " + path_ + ": the folder is not empty. Name a new one.");
  // A process may change its folder before it uses a GPU.
  path_ = fs::absolute(path_);
}

LogFolder::~LogFolder() {
  std::error_code none;
  if (removed_) fs::remove_all(path_, none);
}

std::vector<std::pair<std::string, std::string>> LogFolder::environment(std::uint64_t log_bytes,
                                                                        std::string const& libraries) const {
  return {{"CUDA_INJECTION64_PATH", companion_library("libpenstock-watch.so", libraries)},
          {"PENSTOCK_WATCH", path_},
          {"PENSTOCK_WATCH_LIMIT", std::to_string(log_bytes)}};
}

std::vector<WatchLog> LogFolder::read() const {
  std::vector<WatchLog> logs;
  std::error_code none;
  for (auto const& entry : fs::directory_iterator(path_, none)) logs.push_back(read_log_file(entry.path()));
  std::sort(logs.begin(), logs.end(),
            [](WatchLog const& one, WatchLog const& other) { return one.began < other.began; });
  return logs;
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
