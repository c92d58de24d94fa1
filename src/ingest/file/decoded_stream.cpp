// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/decoded_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace penstock {

void expect_unchanged(OpenFile const& file, FileSourceOptions const& options) {
  options.framing != nullptr ? file.expect_only_grown() : file.expect_unchanged();
}

FileProblem problem_of_decoding(OpenFile const& file, Error const& error) {
  try {
    file.expect_unchanged();
  } catch (FileProblem const& changed) {
    return changed;
  }
  return FileProblem(error.what());
}

DecodedStream::DecodedStream(std::shared_ptr<OpenFile> file, std::optional<Compression> compression,
                             std::uint64_t offset)
    : file_(std::move(file)), offset_(offset), next_(offset), room_(read_bytes), compression_(compression) {}

ByteStream::Gathered DecodedStream::gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                                           std::stop_token const& stop) {
  std::size_t got = 0;
  try {
    if (problem_) throw FileProblem(*problem_);
    if (!begun_) begin(to.size(), linger, stop);
    while (got < to.size() && (waits() || !stop.stop_requested())) {
      if (std::size_t const more = step(to.subspan(got)); more > 0) {
        got += more;
        gave_all_ = false;
      } else if (at_end()) {
        return {got, true};
      } else if (held().empty()) {
        gave_all_ = true;
        if (stop.stop_requested()) break;
        // The available bytes are returned; for more, a tile would have to wait.
        if (got > 0 && waits() && linger) return {got, false};
        if (waits() && !decoder_) {
          auto const rest = file_->gather(to.subspan(got), linger, stop);
          return {got + rest.bytes, rest.ended};
        }
        // The bytes at hand may decode to all that is wanted.
        refill(room_.size(), linger.value_or(std::chrono::microseconds(0)), stop);
      }
    }
    return {got, stop.stop_requested()};
  } catch (FileProblem const& problem) {
    if (got == 0) throw;
    problem_ = problem;
  } catch (Error const& error) {
    problem_ = problem_of_decoding(*file_, error);
    if (got == 0) throw FileProblem(*problem_);
  }
  return {got, false};
}

/// Reads until it is known whether the input is compressed; if that must wait for more, reads up to `wanted` bytes.
void DecodedStream::begin(std::size_t wanted, std::optional<std::chrono::microseconds> linger,
                          std::stop_token const& stop) {
  std::size_t const most = std::max(linger ? wanted : 0, input_magic_bytes);
  while (!compression_) {
    if (!read_to_end_ && !stop.stop_requested()) refill(most, linger, stop);
    compression_ = compression_of(held(), read_to_end_ || stop.stop_requested());
  }
  if (*compression_ != Compression::none) decoder_.emplace(*compression_, offset_);
  begun_ = true;
}

/// Reads data behind the bytes held; from a pipe at most `most` bytes.
void DecodedStream::refill(std::size_t most, std::optional<std::chrono::microseconds> linger,
                           std::stop_token const& stop) {
  if (begin_ == end_) begin_ = end_ = 0;
  auto const room = std::span(room_).subspan(end_);
  if (waits()) {
    auto const got = file_->gather(room.first(std::min(most, room.size())), linger, stop);
    end_ += got.bytes;
    // A stop is not the end of the stream.
    read_to_end_ = got.ended && !stop.stop_requested();
    return;
  }
  // A file that has grown meanwhile is read up to its old size.
  auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), file_->size() - next_));
  std::size_t const got = file_->read_at(next_, room.first(wanted));
  next_ += got;
  end_ += got;
  read_to_end_ = got < wanted || next_ == file_->size();
}

/// Decodes or copies as much as possible; returns 0 if that needs more of the input, or took some that gives nothing.
std::size_t DecodedStream::step(std::span<std::byte> to) {
  if (decoder_) {
    auto const step = decoder_->decode(held(), to);
    begin_ += step.taken;
    return step.given;
  }
  std::size_t const bytes = std::min(to.size(), held().size());
  std::copy_n(held().begin(), bytes, to.begin());
  begin_ += bytes;
  return bytes;
}

/// True if there is no more to come, after a step that gave nothing.
bool DecodedStream::at_end() {
  if (!read_to_end_ || !held().empty()) return false;
  if (decoder_) decoder_->expect_border();
  return true;
}

}  // namespace penstock
