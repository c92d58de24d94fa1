// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "penstock/core/tile.hpp"

namespace penstock {

/// Work on a filled tile before it goes to a lane: decoding, parsing.
struct HostStage {
  std::string name = {};
  /// May change the input part and `filled`. What it throws fails the tile with this stage's name, as does a `filled`
  /// beyond the input part.
  ///
  /// Threads: the consumers, up to `at_once` at a time.
  std::function<void(Tile&)> body = {};
  /// How many tiles it may work on at once; 0 for as many as there are consumers.
  std::size_t at_once = 0;
};

}  // namespace penstock
