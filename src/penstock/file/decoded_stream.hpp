// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "penstock/decoding/decoder.hpp"
#include "penstock/file/byte_stream.hpp"
#include "penstock/file/open_file.hpp"
#include "penstock/files.hpp"

namespace penstock {

/// What a file holds, decoded.
///
/// Threads: one at a time.
class DecodedStream final : public ByteStream {
 public:
  /// What is read of compressed bytes at a time.
  static constexpr std::size_t read_bytes = std::size_t{256} << 10;

  /// If it is not said how it is compressed, its first bytes say that, or that it is read as it is. Of a file that is
  /// read by pieces from this offset on, where a member begins.
  explicit DecodedStream(std::shared_ptr<OpenFile> file, std::optional<Compression> compression = {},
                         std::uint64_t offset = 0);

  /// Bytes that were decoded before a damage are given before it throws.
  Gathered gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                  std::stop_token const& stop) override;
  bool holds() const noexcept override { return waits() && (!held().empty() || (decoder_ && !gave_all_)); }

 private:
  std::span<std::byte const> held() const noexcept { return std::span(room_).first(end_).subspan(begin_); }
  bool waits() const noexcept { return !file_->pieces(); }
  void refill(std::size_t most, std::optional<std::chrono::microseconds> linger, std::stop_token const& stop);
  void begin(std::size_t wanted, std::optional<std::chrono::microseconds> linger, std::stop_token const& stop);
  std::size_t step(std::span<std::byte> to);
  bool at_end();

  std::shared_ptr<OpenFile> const file_;
  std::uint64_t const offset_;  ///< Where the input begins.
  std::uint64_t next_;          ///< What is read next, of a file that is read by pieces.
  std::vector<std::byte> room_;
  std::size_t begin_ = 0, end_ = 0;  ///< What was read and is not decoded yet.
  bool read_to_end_ = false;
  bool gave_all_ = true;                    ///< The decoder has given all that it could of what was read.
  std::optional<Compression> compression_;  ///< Nothing as long as that is not known.
  bool begun_ = false;
  std::optional<Decoder> decoder_;
  std::optional<FileProblem> problem_;
};

/// A file that was read as a stream may have grown meanwhile if it has records, and is else as it was.
///
/// Throws: FileProblem, if it is not so.
void expect_unchanged(OpenFile const& file, FileSourceOptions const& options);

/// What the decoder found, as a problem of this file: that the file changed meanwhile explains it better.
FileProblem problem_of_decoding(OpenFile const& file, Error const& error);

}  // namespace penstock
