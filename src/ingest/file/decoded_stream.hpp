// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ingest/decoding/decoder.hpp"
#include "ingest/file/byte_stream.hpp"
#include "ingest/file/open_file.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

/// The content of a file, decoded.
///
/// Threads: one at a time.
class DecodedStream final : public ByteStream {
 public:
  /// Number of compressed bytes read at a time.
  static constexpr std::size_t read_bytes = std::size_t{256} << 10;

  /// The first bytes tell the compression, if there is any, where `compression` is empty. `offset` is for a file that
  /// is read by pieces: the position of a member from which it is read.
  explicit DecodedStream(std::shared_ptr<OpenFile> file, std::optional<Compression> compression = {},
                         std::uint64_t offset = 0);

  /// Bytes decoded before a damage are returned before it throws.
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
  std::uint64_t const offset_;  ///< Beginning of the input in the file.
  std::uint64_t next_;          ///< Offset of the next read, in a file that is read by pieces.
  std::vector<std::byte> room_;
  std::size_t begin_ = 0, end_ = 0;  ///< Range of the bytes that were read and are not decoded yet.
  bool read_to_end_ = false;
  bool gave_all_ = true;                    ///< The decoder has given all that it could from the bytes read.
  std::optional<Compression> compression_;  ///< Empty as long as it is not known.
  bool begun_ = false;
  std::optional<Decoder> decoder_;
  std::optional<FileProblem> problem_;
};

/// Checks that a file that was read as a stream did not change; if it has records, it may have grown.
///
/// Throws: FileProblem, if it changed otherwise.
void expect_unchanged(OpenFile const& file, FileSourceOptions const& options);

/// Makes a problem of this file from the decoder's error; if the file changed meanwhile, that is the better
/// explanation.
FileProblem problem_of_decoding(OpenFile const& file, Error const& error);

}  // namespace penstock
