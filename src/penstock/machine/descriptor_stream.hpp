// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <stop_token>
#include <streambuf>

namespace penstock {

/// What a std::ostream writes to a descriptor, through a buffer. The descriptor stays open.
///
/// Blocks: while what is written to takes nothing; once `stop` is requested, for a second at most.
class DescriptorStream : public std::streambuf {
 public:
  DescriptorStream(int descriptor, std::stop_token stop);

  /// Hands over what the buffer holds.
  ///
  /// Returns: 0, or the first errno of any write; ECANCELED if it was given up.
  int finish();

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  /// A pipe takes so much without waiting, if it has room for anything.
  static constexpr std::size_t most_of_pipe = 4096;
  bool write_out();
  bool has_room();

  int const descriptor_;
  std::stop_token const stop_;
  int problem_ = 0;
  bool const regular_;  ///< Whether it is a regular file, which always has room.
  std::array<char, 16 * most_of_pipe> buffer_{};
};

}  // namespace penstock
