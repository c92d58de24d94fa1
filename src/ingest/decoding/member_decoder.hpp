// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "ingest/decoding/compression.hpp"

namespace penstock {

/// Decodes members of one format, by a library that is loaded at run time.
///
/// Threads: one at a time.
class MemberDecoder {
 public:
  virtual ~MemberDecoder() = default;

  struct Step {
    std::size_t taken = 0;
    std::size_t given = 0;
    bool ended = false;        ///< The member ends behind the bytes taken, and all of it is given.
    std::string problem = {};  ///< The reason why it cannot be decoded further; empty: no problem.
    std::string remedy = "copy it or make it again";
  };
  /// Decodes as much as possible of `from`, which continues where the last step ended, into `to`.
  virtual Step decode(std::span<std::byte const> from, std::span<std::byte> to) = 0;
  /// The next bytes begin a member.
  virtual void restart() = 0;
};

/// Maximum memory for the window of a member of zstd, as a power of two.
constexpr int most_window_log = 27;

/// Makes decoders that use the library of this name or path; empty: that of the system.
///
/// Throws: Error of kind unsupported, if it cannot be loaded.
std::unique_ptr<MemberDecoder> gzip_decoder(std::string const& library);
std::unique_ptr<MemberDecoder> zstd_decoder(std::string const& library);
std::unique_ptr<MemberDecoder> lz4_decoder(std::string const& library);
/// Makes a decoder of skippable frames, which decode to nothing. It takes less than magic_bytes of any other member.
std::unique_ptr<MemberDecoder> skippable_decoder();

}  // namespace penstock
