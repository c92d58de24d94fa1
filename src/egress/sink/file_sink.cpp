// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "egress/sink/open_to_write.hpp"
#include "egress/sink/sink_writer.hpp"
#include "egress/sink/torn_record.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/say.hpp"
#include "engine/machine/output_file.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {
namespace {

std::string gone(std::uint64_t bytes) {
  return bytes == 1 ? "byte was cut off" : std::to_string(bytes) + " bytes were cut off";
}

}  // namespace

class FileSink::Parts {
 public:
  Parts(std::string path, FileSinkOptions options)
      : name_(std::move(path)), options_(std::move(options)), ending_(options_.writing.stop) {
    if (name_ == "-") {
      name_ = "standard output";
      writer_ = writer_for(STDOUT_FILENO);
    } else if (path_ = name_; options_.keeping == FileKeeping::at_once) {
      begin_at_once();
    } else {
      writer_ = open(options_.keeping == FileKeeping::grows ? O_TRUNC : O_APPEND);
    }
  }
  Parts(int descriptor, std::string name, FileSinkOptions options)
      : name_(std::move(name)), options_(std::move(options)), ending_(options_.writing.stop) {
    if (options_.keeping == FileKeeping::at_once)
      throw Error(ErrorKind::bad_argument, name_ +
                                               " is a descriptor, which cannot be put in the place of a file. Name the "
                                               "file by its path.");
    writer_ = writer_for(descriptor);
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
    // The new file is opened first, so that the old one stays in use if that fails.
    auto next = open(O_APPEND);
    end(*writer_);
    writer_ = std::move(next);
  }
  void close() {
    std::lock_guard const lock(mutex_);
    if (std::exchange(closed_, true)) return;
    try {
      writer_->flush();
      draft_ ? draft_->take_place() : end(*writer_);
    } catch (...) {
      let_go();
      throw;
    }
    let_go();
  }
  SinkCounts counts() const noexcept { return tally_.counts(); }

  OwnProcess const process;

 private:
  std::unique_ptr<SinkWriter> writer_for(int descriptor) {
    WriterWords words{.name = name_};
    if (draft_) words.outcome = "is as it was";
    return std::make_unique<SinkWriter>(std::move(words), descriptor, options_.writing, ending_, tally_);
  }
  std::unique_ptr<SinkWriter> open(int flags) {
    if (flags == O_APPEND && !options_.record_end.empty()) {
      std::uint64_t const bytes = cut_torn_record(path_, options_.record_end);
      if (bytes != 0) say("%s ended within a record: its last %s.", name_.c_str(), gone(bytes).c_str());
    }
    Descriptor opened = open_to_write(path_, flags, ending_);
    auto writer = writer_for(opened.number);
    writer->own(opened);
    return writer;
  }
  void begin_at_once() {
    place_.emplace(path_, options_.writing.stop);
    if (place_->is_replaced()) draft_.emplace(*place_, "its records");
    writer_ = writer_for(draft_ ? draft_->descriptor() : place_->opened());
  }
  void end(SinkWriter& writer) const {
    if (options_.synced) writer.sync(path_);
    writer.shut();
  }
  /// Closes all descriptors, so that the reader of a pipe sees its end.
  void let_go() noexcept {
    writer_.reset();
    draft_.reset();
    place_.reset();
  }
  void expect_open() const {
    if (closed_) throw Error(ErrorKind::bad_argument, name_ + " is closed. Append records before.");
  }

  std::mutex mutable mutex_;
  std::string name_, path_;
  FileSinkOptions const options_;
  Ending const ending_;
  SinkTally tally_;
  std::optional<OutputFile> place_;         ///< Used for a file that is kept at once.
  std::optional<OutputFile::Draft> draft_;  ///< Used for a file that is replaced.
  std::unique_ptr<SinkWriter> writer_;      ///< Null once it is closed.
  bool closed_ = false;
};

FileSink::FileSink(std::string path, FileSinkOptions options)
    : parts_(std::make_unique<Parts>(std::move(path), std::move(options))) {}
FileSink::FileSink(int descriptor, std::string name, FileSinkOptions options)
    : parts_(std::make_unique<Parts>(descriptor, std::move(name), std::move(options))) {}
FileSink::~FileSink() {
  left_to_parent(parts_);
}

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
