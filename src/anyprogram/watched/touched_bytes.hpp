// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "anyprogram/watched/order.hpp"

namespace penstock::cli {

/// A call that touched bytes, with its place in both orders.
struct Touch {
  std::size_t call = 0;
  bool writes = false;
  OrderPlace fenced = {};
  OrderPlace unfenced = {};
};

/// The calls that touched each byte last, as far as a later call may be unordered with them.
class TouchedBytes {
 public:
  /// Takes a touch of bytes, and reports each earlier one of the same bytes if one of the two writes.
  ///
  /// `over`: true if that earlier touch need not be kept, since all that comes after the new one comes after it.
  void touch(std::uint64_t begin, std::uint64_t bytes, Touch const& touch,
             std::function<void(Touch const& earlier, std::uint64_t begin, std::uint64_t end)> const& show,
             std::function<bool(Touch const& earlier)> const& over);
  /// Says that these bytes are other memory from now on.
  void forget(std::uint64_t begin, std::uint64_t bytes);

 private:
  struct Piece {
    std::uint64_t end = 0;
    std::vector<Touch> touches = {};
  };
  using Pieces = std::map<std::uint64_t, Piece>;

  void cut(std::uint64_t at);

  Pieces pieces_;  ///< Pieces ordered by their begin; they do not overlap.
};

}  // namespace penstock::cli
