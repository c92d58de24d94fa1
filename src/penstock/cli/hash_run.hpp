// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "penstock/cli/hash_book.hpp"
#include "penstock/cli/hash_source.hpp"
#include "penstock/cli/progress.hpp"
#include "penstock/core/completion.hpp"
#include "penstock/flow/source.hpp"

namespace penstock::cli {

/// One run of `penstock hash` from both ends: what producers pull out of it, and what consumers bring back.
///
/// Threads: as Source; `take` one at a time, `problem` any.
class HashRun final : public Source {
 public:
  /// `enough` must be what `source` listens to.
  HashRun(HashSource& source, HashBook& book, Progress& progress, std::stop_source enough);

  bool next(Tile& tile) override;
  std::size_t fill(Tile& tile) override;
  /// Books a tile. Once the device is lost it also asks `enough`, because nothing else wakes a producer that waits for
  /// input.
  ///
  /// Throws: what the book throws.
  void take(Completion const& completion);
  /// What `next` or `take` threw first; empty if neither did. A report may have a tile's failure in its place.
  std::optional<std::string> problem() const;

 private:
  void note_current();
  void book(Completion const& completion);

  HashSource& source_;
  HashBook& book_;
  Progress& progress_;
  std::stop_source enough_;
  mutable std::mutex mutex_;
  std::optional<std::string> problem_;
};

}  // namespace penstock::cli
