// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ingest/decoding/member_decoder.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// Decodes a compressed input, member after member: bytes in, bytes out, as they come.
///
/// Its memory is that of the format, up to 128 MiB for zstd, independent of the size of the decoded data.
///
/// Threads: one at a time.
class Decoder {
 public:
  /// `offset` is the position in the input of the first bytes; if it is not 0, other members precede it. `library`
  /// replaces the system's library for decoding.
  ///
  /// Throws: Error of kind unsupported, if the library cannot be loaded; out_of_memory.
  explicit Decoder(Compression compression, std::uint64_t offset = 0, std::string const& library = {});

  /// Members of the same format begin at this offset.
  void restart(std::uint64_t offset);

  struct Step {
    std::size_t taken = 0;
    std::size_t given = 0;
    bool none() const noexcept { return taken + given == 0; }
  };
  /// Decodes as much as possible of `from`, which continues where the last step ended, into `to`. It takes and gives
  /// nothing only if it needs more of the input than `from` has, or `to` is empty.
  ///
  /// Zeros behind the last member of gzip are skipped, since tapes and some programs add them.
  ///
  /// Throws: Error, if the input is damaged, or other bytes follow its last member. All bytes decoded before were
  ///         given. Later calls throw the same.
  Step decode(std::span<std::byte const> from, std::span<std::byte> to);
  /// True if every member that has begun has ended: the input may end here.
  bool at_border() const noexcept { return head_bytes_ == 0; }
  /// Declares the end of the input: no step will have more.
  ///
  /// Throws: Error, if a member has begun.
  void expect_border() const;

 private:
  void look(std::span<std::byte const> from);

  std::size_t pass_zeros(std::span<std::byte const> from);
  void settle(std::span<std::byte const> head);

  Compression compression_;
  std::string const library_;
  std::unique_ptr<MemberDecoder> member_;
  std::uint64_t offset_;  ///< Offset in the input of the next bytes.
  std::string problem_;
  bool padded_ = false;         ///< Zeros follow the last member of gzip, and nothing else may follow.
  bool holds_more_ = false;     ///< It may give more without taking more.
  std::size_t head_bytes_ = 0;  ///< Number of the member's bytes in `head_` so far.
  std::array<std::byte, magic_bytes> head_{};
};

}  // namespace penstock
