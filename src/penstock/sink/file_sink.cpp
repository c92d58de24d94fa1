// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "penstock/core/failure_text.hpp"
#include "penstock/core/say.hpp"
#include "penstock/machine/new_file.hpp"
#include "penstock/machine/output_file.hpp"
#include "penstock/sink/open_to_write.hpp"
#include "penstock/sink/sink_writer.hpp"
#include "penstock/sinks.hpp"

namespace penstock {

class FileSink::Parts {
 public:
  Parts(std::string path, FileSinkOptions options)
      : name_(std::move(path)), options_(std::move(options)), ending_(options_.writing.stop) {
    if (name_ == "-") {
      name_ = "standard output";
      begin(STDOUT_FILENO);
    } else if (path_ = name_; options_.keeping == FileKeeping::at_once) {
      begin_draft();
    } else {
      own_.number = open_to_write(path_, options_.keeping == FileKeeping::grows ? O_TRUNC : O_APPEND);
      begin(own_.number);
    }
  }
  Parts(int descriptor, std::string name, FileSinkOptions options)
      : name_(std::move(name)), options_(std::move(options)), ending_(options_.writing.stop) {
    if (options_.keeping == FileKeeping::at_once)
      throw Error(ErrorKind::bad_argument, name_ +
                                               " is a descriptor, which cannot be put in the place of a file. Name the "
                                               "file by its path.");
    begin(descriptor);
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts() {
    if (closed_ || writer_->failed()) return;
    try {
      if (draft_) {
        say("%s was not closed, and is as it was.", name_.c_str());
      } else {
        close();
      }
    } catch (std::exception const& failure) {
      say("%s", failure.what());
    }
  }

  void append(std::span<std::byte const> records) {
    std::lock_guard const lock(mutex_);
    expect_open();
    writer_->append(records);
  }
  void flush() {
    std::lock_guard const lock(mutex_);
    expect_open();
    writer_->flush();
  }
  void reopen() {
    std::lock_guard const lock(mutex_);
    expect_open();
    if (path_.empty() || place_)
      throw Error(ErrorKind::bad_argument, name_ + " cannot be opened again: it has no path, or is kept at once.");
    writer_->flush();
    // First the new one, so that the old one goes on if that fails.
    int const next = open_to_write(path_, O_APPEND);
    shut();
    own_.number = next;
    begin(next);
  }
  void close() {
    std::lock_guard const lock(mutex_);
    if (std::exchange(closed_, true)) return;
    writer_->flush();
    if (draft_) return draft_->take_place();
    shut();
    if (options_.synced && !path_.empty()) sync_folder_of(path_);
  }
  SinkCounts counts() const noexcept { return tally_.counts(); }

 private:
  void begin_draft() {
    place_.emplace(path_, options_.writing.stop);
    if (!place_->is_replaced()) return begin(place_->opened());
    draft_.emplace(*place_, "its records");
    begin(draft_->descriptor());
  }
  void begin(int descriptor) {
    WriterWords words{.name = name_};
    if (draft_) words.outcome = "is as it was";
    writer_.emplace(std::move(words), descriptor, options_.writing, ending_, tally_);
    descriptor_ = descriptor;
  }
  /// Ends what is written now.
  void shut() {
    int const problem = options_.synced ? sync_file(descriptor_) : 0;
    int const of_closing = own_.number >= 0 && ::close(std::exchange(own_.number, -1)) != 0 ? errno : 0;
    if (problem != 0 || of_closing != 0) writer_->fail(problem != 0 ? problem : of_closing);
  }
  void expect_open() const {
    if (closed_) throw Error(ErrorKind::bad_argument, name_ + " is closed. Append records before.");
  }

  std::mutex mutable mutex_;
  std::string name_, path_;
  FileSinkOptions const options_;
  Ending const ending_;
  std::optional<OutputFile> place_;
  std::optional<OutputFile::Draft> draft_;
  Descriptor own_;
  int descriptor_ = -1;
  SinkTally tally_;
  std::optional<SinkWriter> writer_;
  bool closed_ = false;
};

FileSink::FileSink(std::string path, FileSinkOptions options)
    : parts_(std::make_unique<Parts>(std::move(path), std::move(options))) {}
FileSink::FileSink(int descriptor, std::string name, FileSinkOptions options)
    : parts_(std::make_unique<Parts>(descriptor, std::move(name), std::move(options))) {}
FileSink::~FileSink() = default;

void FileSink::append(std::span<std::byte const> records) {
  parts_->append(records);
}
void FileSink::flush() {
  parts_->flush();
}
void FileSink::reopen() {
  parts_->reopen();
}
void FileSink::close() {
  parts_->close();
}
SinkCounts FileSink::counts() const noexcept {
  return parts_->counts();
}

}  // namespace penstock
