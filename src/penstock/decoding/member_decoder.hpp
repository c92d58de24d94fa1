// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "penstock/decoding/compression.hpp"

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
    bool ended = false;        ///< The member ends behind what was taken, and all of it is given.
    std::string problem = {};  ///< Not empty: it cannot be decoded further, for this reason.
    std::string remedy = "copy it or make it again";
  };
  /// Decodes what it can of `from`, which goes on where the last step ended, into `to`.
  virtual Step decode(std::span<std::byte const> from, std::span<std::byte> to) = 0;
  /// What comes next begins a member.
  virtual void restart() = 0;
};

/// The most memory that a member of zstd may ask for to keep what it has decoded, as a power of two.
constexpr int most_window_log = 27;

/// By the library of this name or path; empty: as the system has it.
///
/// Throws: Error of kind unsupported, if it cannot be loaded.
std::unique_ptr<MemberDecoder> gzip_decoder(std::string const& library);
std::unique_ptr<MemberDecoder> zstd_decoder(std::string const& library);
std::unique_ptr<MemberDecoder> lz4_decoder(std::string const& library);
/// For skippable frames, which decode to nothing. Of another member it takes less than magic_bytes.
std::unique_ptr<MemberDecoder> skippable_decoder();

}  // namespace penstock
