// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/ramp.hpp"

#include <algorithm>

#include "penstock/core/error.hpp"

namespace penstock {

Ramp::Ramp(std::uint64_t total_bytes, std::size_t tile_bytes, std::size_t smallest)
    : total_(total_bytes), smallest_(std::min(smallest, tile_bytes)) {
  if (smallest_ == 0) {
    throw Error(ErrorKind::bad_argument,
                "Pieces of 0 bytes never come to an end: give tile and smallest piece a size.");
  }
  // One step more, as long as a piece of that size is no tile yet and both ways fit into the whole.
  while (smallest_ << steps_ < tile_bytes && climbed(steps_ + 1) <= total_ / 2) ++steps_;
  each_ = std::min<std::uint64_t>(tile_bytes, smallest_ << steps_);
  middle_ = (total_ - 2 * climbed(steps_) + each_ - 1) / each_;
}

Ramp::Piece Ramp::operator[](std::uint64_t number) const noexcept {
  if (number < steps_) return {climbed(number), static_cast<std::size_t>(smallest_ << number)};
  if (number < steps_ + middle_) {
    std::uint64_t const offset = climbed(steps_) + (number - steps_) * each_;
    return {offset, static_cast<std::size_t>(std::min(each_, total_ - climbed(steps_) - offset))};
  }
  std::uint64_t const left = size() - 1 - number;  // Pieces behind it.
  return {total_ - climbed(left + 1), static_cast<std::size_t>(smallest_ << left)};
}

}  // namespace penstock
