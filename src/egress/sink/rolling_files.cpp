// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "egress/sink/name_pattern.hpp"
#include "egress/sink/open_to_write.hpp"
#include "egress/sink/sink_writer.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/say.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {

class RollingFiles::Parts {
 public:
  Parts(std::string const& pattern, RollingOptions options)
      : folder_(std::filesystem::path(pattern).parent_path()),
        pattern_(std::filesystem::path(pattern).filename().string()),
        options_(std::move(options)),
        ending_(options_.writing.stop) {
    auto const there = files_there();
    if (!there.empty()) number_ = there.back().first;
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts() {
    if (closed_ || (writer_ && writer_->failed())) return;
    try {
      end();
    } catch (std::exception const& failure) {
      say("%s", failure.what());
    }
  }

  void append(std::span<std::byte const> records) {
    std::lock_guard const lock(mutex_);
    expect_open();
    if (records.empty()) return;
    auto const now = options_.clock ? options_.clock() : std::chrono::system_clock::now();
    if (writer_ && is_over(now, records.size())) end();
    if (!writer_) begin(now);
    writer_->append(records);
    bytes_ += records.size();
  }
  void flush() {
    std::lock_guard const lock(mutex_);
    expect_open();
    if (writer_) writer_->flush();
  }
  void roll() {
    std::lock_guard const lock(mutex_);
    expect_open();
    end();
  }
  void close() {
    std::lock_guard const lock(mutex_);
    if (!std::exchange(closed_, true)) end();
  }
  std::string path() const {
    std::lock_guard const lock(mutex_);
    return path_;
  }
  SinkCounts counts() const noexcept { return tally_.counts(); }

  OwnProcess const process;

 private:
  using Files = std::vector<std::pair<std::uint64_t, std::filesystem::path>>;

  /// Files that match the pattern, in the order of their numbers.
  Files files_there() const {
    Files files;
    std::error_code problem;
    std::filesystem::directory_iterator next(folder_.empty() ? "." : folder_, problem);
    for (; !problem && next != std::filesystem::directory_iterator(); next.increment(problem)) {
      auto const number = pattern_.number_of(next->path().filename().string());
      if (number) files.emplace_back(*number, next->path());
    }
    if (problem)
      throw Error(ErrorKind::system,
                  folder_.string() + " cannot be read (" + problem.message() + "): name a folder that can.");
    std::sort(files.begin(), files.end());
    return files;
  }
  bool is_over(std::chrono::system_clock::time_point now, std::size_t more) const {
    if (bytes_ == 0) return false;
    bool const full = options_.bytes != 0 && bytes_ + more > options_.bytes;
    // The age is unknown if the clock was set back.
    bool const late = options_.time.count() != 0 && (now < begun_ || now - begun_ >= options_.time);
    return full || late;
  }
  std::unique_ptr<SinkWriter> open(std::string const& path) {
    Descriptor opened = open_to_write(path, O_EXCL, ending_);
    try {
      auto writer =
          std::make_unique<SinkWriter>(WriterWords{.name = path}, opened.number, options_.writing, ending_, tally_);
      writer->own(opened);
      return writer;
    } catch (...) {
      unlink(path.c_str());  // A file without a record is removed.
      throw;
    }
  }
  void begin(std::chrono::system_clock::time_point now) {
    // Another process may have taken the number.
    constexpr int most_attempts = 1000;
    for (int attempt = 1;; ++attempt, ++number_) {
      if (number_ == std::numeric_limits<std::uint64_t>::max())
        throw Error(ErrorKind::system, "No number is left for a file behind " + pattern_.name(number_, now) +
                                           ": take the files with the largest numbers away.");
      std::string path = (folder_ / pattern_.name(number_ + 1, now)).string();
      try {
        writer_ = open(path);
        path_ = std::move(path);
        break;
      } catch (Error const&) {
        std::error_code problem;
        if (!std::filesystem::exists(path, problem) || attempt == most_attempts) throw;
      }
    }
    ++number_;
    bytes_ = 0;
    begun_ = now;
    if (options_.synced) writer_->expect_none(sync_folder_of(path_));
    if (options_.keep != 0) remove_old();
  }
  void remove_old() const noexcept {
    try {
      Files const there = files_there();
      for (std::size_t k = 0; k + options_.keep < there.size(); ++k) {
        std::error_code problem;
        std::filesystem::remove(there[k].second, problem);
        if (problem) say("%s cannot be removed: %s.", there[k].second.c_str(), problem.message().c_str());
      }
    } catch (std::exception const& failure) {
      say("No old files are removed: %s", failure.what());
    }
  }
  void end() {
    if (!writer_) return;
    writer_->flush();
    if (options_.synced) writer_->sync("");
    writer_->shut();
    writer_.reset();
  }
  void expect_open() const {
    if (closed_) throw Error(ErrorKind::bad_argument, "These files are closed. Append records before.");
  }

  std::mutex mutable mutex_;
  std::filesystem::path const folder_;
  NamePattern const pattern_;
  RollingOptions const options_;
  Ending const ending_;
  SinkTally tally_;
  std::uint64_t number_ = 0;  ///< Number of the last file.
  std::string path_;
  std::unique_ptr<SinkWriter> writer_;  ///< Null between files.
  std::uint64_t bytes_ = 0;             ///< Size of this file, including bytes that are not written yet.
  std::chrono::system_clock::time_point begun_;
  bool closed_ = false;
};

RollingFiles::RollingFiles(std::string const& pattern, RollingOptions options)
    : parts_(std::make_unique<Parts>(pattern, std::move(options))) {}
RollingFiles::~RollingFiles() {
  left_to_parent(parts_);
}

void RollingFiles::append(std::span<std::byte const> records) {
  parts_->append(records);
}
void RollingFiles::flush() {
  parts_->flush();
}
void RollingFiles::roll() {
  parts_->roll();
}
void RollingFiles::close() {
  parts_->close();
}
std::string RollingFiles::path() const {
  return parts_->path();
}
SinkCounts RollingFiles::counts() const noexcept {
  return parts_->counts();
}

}  // namespace penstock
