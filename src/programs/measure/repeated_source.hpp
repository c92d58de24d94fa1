// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/pipeline.hpp"
#include "penstock/stages.hpp"

namespace penstock::measure {

/// The input of a job during a measurement: each time the job's own source ends, it is made again. For the job's
/// source, stages and sink each pass looks like the only one: the sequence numbers of its tiles begin at 0.
///
/// Threads: as Source. `place_of` and the stages: any, for tiles that `next` agreed to.
class RepeatedSource final : public Source {
 public:
  using Make = std::function<std::unique_ptr<Source>(Pool const&)>;

  /// Makes a source for tiles of this pool, which outlives it.
  ///
  /// Throws: what `make` throws.
  RepeatedSource(Make make, Pool const& pool);

  /// False if a pass has no tile at all.
  ///
  /// Throws: what the job's source and `make` throw.
  bool next(Tile& tile) override;
  std::size_t fill(Tile& tile) override;
  /// Remarks of one pass: the first that is over and has any, else one that is not over.
  std::vector<std::string> remarks() const override;
  /// Element types that a pass fills; all passes fill the same.
  TileTypes types() const noexcept override { return now_->source->types(); }
  /// Input that one pass did not pass on in tiles: the first that is over and has any, else one that is not over.
  std::vector<LeftOut> left_out() const override;
  /// The sequence number, within its pass, of a tile that has this number in the whole measurement.
  std::uint64_t place_of(std::uint64_t sequence) const;
  /// Wraps stages, so that they get the numbers within the pass. This object must outlive them.
  Stages seen_by(Stages stages) const;

 private:
  struct Pass {
    std::uint64_t start;  ///< The number of its first tile in the whole measurement.
    std::unique_ptr<Source> source;
  };
  void begin(std::uint64_t start);
  /// Replaces one of the two kinds of references to a pass. A pass is over with its last one.
  void refer(std::shared_ptr<Pass>& reference, std::shared_ptr<Pass> pass);
  /// What one pass answers: `of_one_over` of a pass that is over, unless it is empty.
  template <class All>
  All of_a_pass(All const& of_one_over, All (Source::*ask)() const) const;

  Make const make_;
  Pool const& pool_;
  std::shared_ptr<Pass> now_;                   ///< Never null: the constructor throws if there is no pass.
  std::vector<std::shared_ptr<Pass>> of_tile_;  ///< The latest pass of each tile of the pool.
  std::vector<LeftOut> left_out_;               ///< Input left out by the first pass that is over and left out any.
  std::vector<std::string> remarks_;            ///< Remarks of the first pass that is over and has any.
  std::atomic<std::uint64_t> latest_start_{0};
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> starts_;  ///< Pass::start of all passes, in order.
};

}  // namespace penstock::measure
