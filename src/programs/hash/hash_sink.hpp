// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>

#include "penstock/tile.hpp"
#include "programs/command/progress.hpp"
#include "programs/hash/hash_book.hpp"
#include "programs/hash/hash_source.hpp"

namespace penstock::cli {

/// Books the tiles that return, and ends the input when no device is left to hash it.
///
/// Threads: one at a time.
class HashSink {
 public:
  /// `enough` must be the stop source that `source` uses. `no_device_left` is asked when the loss of a device failed a
  /// tile.
  HashSink(
      HashSource const& source, HashBook& book, Progress& progress, std::stop_source enough,
      std::function<bool()> no_device_left = [] { return true; });

  /// Books a tile. If the loss of the last device failed it this also requests a stop of `enough`, because nothing else
  /// wakes a producer that waits for input.
  ///
  /// Throws: what the book throws.
  void take(Completion const& completion);

 private:
  void take(FileGroup const& group, Completion const& completion);
  void stop_without_device(Completion const& completion);

  HashSource const& source_;
  HashBook& book_;
  Progress& progress_;
  std::stop_source enough_;
  std::function<bool()> no_device_left_;
};

}  // namespace penstock::cli
