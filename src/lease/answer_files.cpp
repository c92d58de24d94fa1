// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/answer_files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/failure_text.hpp"
#include "engine/core/say.hpp"
#include "penstock/error.hpp"
#include "penstock/lease/workers.hpp"

namespace penstock {
namespace {

constexpr std::chrono::milliseconds first_pause{50}, last_pause{2000};
constexpr mode_t usual_mode = 0666;

bool write_whole(int file, std::string_view content) {
  while (!content.empty()) {
    ssize_t const written = write(file, content.data(), content.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Makes sure that a folder's entries are on the disk. False if the system refuses; errno says why.
bool is_synced(std::string const& folder) {
  Descriptor const opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened.number >= 0 && fsync(opened.number) == 0;
}

}  // namespace

class AnswerFiles::Parts {
 public:
  Parts(std::string folder, AnswerFilesOptions options) : folder_(std::move(folder)), options_(std::move(options)) {
    std::error_code problem;
    if (std::filesystem::create_directory(folder_, problem)) is_synced(folder_ + "/..");
    if (access((folder_ + "/.").c_str(), W_OK | X_OK) != 0)
      throw Error(ErrorKind::bad_argument, folder_ + " takes no files: " + system_problem(errno) +
                                               ". Name a folder that this user can write to.");
    try {
      thread_ = std::jthread([this] { work(); });
    } catch (std::system_error const& refused) {
      throw Error(ErrorKind::system, "There is no thread to write answers: " + system_problem(refused.code().value()) +
                                         ". " + remedy_for_threads());
    }
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts() {
    drain();
    std::lock_guard const lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }

  std::string path_of(std::uint64_t number) const {
    std::string digits = std::to_string(number);
    digits.insert(0, 10 - std::min<std::size_t>(digits.size(), 10), '0');
    return folder_ + '/' + digits + options_.suffix;
  }

  void put(LeaseSource& source, Lease const& lease, std::string content, std::string in_ledger) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, options_.stop, [&] { return bytes_ == 0 || bytes_ + content.size() <= options_.most_waiting; });
    if (options_.stop.stop_requested()) return;
    if (in_ledger.empty()) in_ledger = std::filesystem::path(path_of(lease.number)).filename();
    bytes_ += content.size();
    waiting_.push_back({&source, lease, std::move(content), std::move(in_ledger)});
    changed_.notify_all();
  }

  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.empty() && !writing_; });
  }

 private:
  struct Waiting {
    LeaseSource* source;
    Lease lease;
    std::string content;
    std::string in_ledger;
  };

  /// Writes one answer under a name of its try, and gives it its own name. False if the system refuses; errno says why.
  bool write_one(Waiting const& one) const {
    std::string const path = path_of(one.lease.number);
    auto const part_of = [&](std::uint32_t tries) { return path + ".part-" + std::to_string(tries); };
    std::string const part = part_of(one.lease.tries);
    Descriptor const file(open(part.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, usual_mode));
    bool const written = file.number >= 0 && write_whole(file.number, one.content) && fsync(file.number) == 0 &&
                         rename(part.c_str(), path.c_str()) == 0;
    int const problem = errno;
    if (!written) unlink(part.c_str());
    // What a process left that was killed as it wrote.
    for (std::uint32_t tries = 1; written && tries < one.lease.tries; ++tries) unlink(part_of(tries).c_str());
    errno = problem;
    return written;
  }

  std::string remedy_of(int problem) const {
    return folder_ + " takes no answers for now (" + system_problem(problem) + "): " + remedy_for_writing(problem) +
           ". They wait.";
  }

  void work();
  bool write_until_done(std::span<Waiting const> batch);

  std::string const folder_;
  AnswerFilesOptions const options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Waiting> waiting_;
  std::size_t bytes_ = 0;  ///< Of those that wait and those that are being written.
  bool writing_ = false;
  bool ending_ = false;
  bool said_ = false;
  WorkerReport report_;  ///< The thread's: its wait for the disk is no hang.
  std::jthread thread_;
};

void AnswerFiles::Parts::work() {
  pthread_setname_np(pthread_self(), "ps-answers");
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto batch = std::exchange(waiting_, {});
    writing_ = true;
    lock.unlock();
    report_.asks(true);
    bool written = false;
    std::string failure;
    try {
      written = write_until_done(batch);
    } catch (std::exception const& problem) {  // There is no memory for a name.
      failure = failure_text(problem);
    }
    report_.asks(false);
    std::size_t bytes = 0;
    for (Waiting& one : batch) {
      bytes += one.content.size();
      if (written) one.source->acknowledge(one.lease, std::move(one.in_ledger));
      if (!failure.empty()) one.source->fail(one.lease, failure);
    }
    lock.lock();
    bytes_ -= bytes;
    writing_ = false;
    changed_.notify_all();
  }
}

/// False if a stop was requested before all of it was on the disk.
bool AnswerFiles::Parts::write_until_done(std::span<Waiting const> batch) {
  for (auto pause = first_pause;; pause = std::min(2 * pause, last_pause)) {
    // All of it again after a failure: the folder may be another one.
    if (std::ranges::all_of(batch, [this](Waiting const& one) { return write_one(one); }) && is_synced(folder_))
      return true;
    std::string const problem = remedy_of(errno);
    std::unique_lock lock(mutex_);
    if (!std::exchange(said_, true)) say("%s", problem.c_str());
    if (changed_.wait_for(lock, options_.stop, pause, [] { return false; }) || options_.stop.stop_requested())
      return false;
  }
}

AnswerFiles::AnswerFiles(std::string folder, AnswerFilesOptions options)
    : parts_(std::make_unique<Parts>(std::move(folder), std::move(options))) {}

AnswerFiles::~AnswerFiles() = default;

std::string AnswerFiles::path_of(std::uint64_t number) const {
  return parts_->path_of(number);
}

void AnswerFiles::put(LeaseSource& source, Lease const& lease, std::string content, std::string in_ledger) {
  parts_->put(source, lease, std::move(content), std::move(in_ledger));
}

void AnswerFiles::drain() {
  parts_->drain();
}

}  // namespace penstock
