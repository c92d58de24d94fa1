// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "penstock/pipeline.hpp"
#include "penstock/stages.hpp"

namespace penstock::measure {

/// The input of a job for as long as it is measured: where the job's own source ends, it is made again. Source, stages
/// and sink of the job see each pass as if it were the only one: its tiles are 0, 1, 2 ... again.
///
/// Threads: as Source. `place_of` and the stages: any, for tiles that `next` agreed to.
class RepeatedSource final : public Source {
 public:
  using Make = std::function<std::unique_ptr<Source>(Pool const&)>;

  /// For tiles of this pool, which outlives it.
  ///
  /// Throws: what `make` throws.
  RepeatedSource(Make make, Pool const& pool);

  /// False if a pass has no tile at all.
  ///
  /// Throws: what the job's source and `make` throw.
  bool next(Tile& tile) override;
  std::size_t fill(Tile& tile) override;
  /// The place in its pass of a tile that has this place in all of the input.
  std::uint64_t place_of(std::uint64_t sequence) const;
  /// The job's stages, as they are to see its tiles. They are used while this lives.
  Stages seen_by(Stages stages) const;

 private:
  struct Pass {
    std::uint64_t start;  ///< The place of its first tile in all of the input.
    std::unique_ptr<Source> source;
  };
  void begin(std::uint64_t start);

  Make const make_;
  Pool const& pool_;
  std::shared_ptr<Pass> now_;
  std::vector<std::shared_ptr<Pass>> of_tile_;  ///< By the tile's number in its pool: the pass that it was in last.
  std::atomic<std::uint64_t> latest_start_{0};
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> starts_;  ///< Of all passes, in order.
};

}  // namespace penstock::measure
