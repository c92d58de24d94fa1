// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <utility>

#include "egress/arrow/arrow_messages.hpp"
#include "penstock/egress/arrow.hpp"

namespace penstock {

class ArrowFile::Parts {
 public:
  Parts(std::string const& path, std::vector<ArrowField> fields, FileSinkOptions options)
      : path_(path), fields_(std::move(fields)), file_(path, expect_whole(path, std::move(options))) {
    static_cast<void>(ArrowBatch(fields_));  // Throws if they are invalid.
    auto const beginning = arrow_beginning(fields_);
    file_.append(beginning);
    at_ = beginning.size();
  }

  void append(ArrowBatch const& batch) {
    auto const same = [](ArrowColumn const& column, ArrowField const& field) { return column.field() == field; };
    auto const& columns = batch.columns();
    if (!std::equal(columns.begin(), columns.end(), fields_.begin(), fields_.end(), same))
      throw Error(ErrorKind::bad_argument, path_ + " has other fields than this batch. Make both of the same fields.");
    ArrowBlock block;
    auto const message = arrow_message(batch, block);
    std::lock_guard const lock(mutex_);
    block.at = static_cast<std::int64_t>(at_);
    blocks_.push_back(block);
    try {
      file_.append(message);
    } catch (...) {
      blocks_.pop_back();
      throw;
    }
    at_ += message.size();
  }
  void close() {
    std::lock_guard const lock(mutex_);
    if (closed_) return;
    auto const end = arrow_end(fields_, blocks_);
    closed_ = true;
    file_.append(end);
    file_.close();
  }
  SinkCounts counts() const noexcept { return file_.counts(); }

 private:
  static FileSinkOptions expect_whole(std::string const& path, FileSinkOptions options) {
    if (options.keeping != FileKeeping::goes_on) return options;
    throw Error(ErrorKind::bad_argument, path + " cannot go on behind what it has: a file of Arrow has one beginning.");
  }

  std::mutex mutex_;
  std::string const path_;
  std::vector<ArrowField> const fields_;
  FileSink file_;
  std::uint64_t at_ = 0;  ///< Offset of the next message.
  std::vector<ArrowBlock> blocks_;
  bool closed_ = false;
};

ArrowFile::ArrowFile(std::string const& path, std::vector<ArrowField> fields, FileSinkOptions options)
    : parts_(std::make_unique<Parts>(path, std::move(fields), std::move(options))) {}
ArrowFile::~ArrowFile() = default;

void ArrowFile::append(ArrowBatch const& batch) {
  parts_->append(batch);
}
void ArrowFile::close() {
  parts_->close();
}
SinkCounts ArrowFile::counts() const noexcept {
  return parts_->counts();
}

}  // namespace penstock
