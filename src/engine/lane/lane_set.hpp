// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/lane/lane.hpp"
#include "engine/plan/places.hpp"

namespace penstock {

/// The interface that takes tiles for the devices: the lanes of a run, or in tests what stands for them.
///
/// Threads: any.
class TileTaker {
 public:
  /// Takes a tile, which is completed later; false once closed: the loan is then still the caller's.
  virtual bool submit(Loan& loan) noexcept = 0;
  /// Takes a tile with a key: those of one key go one way, and those that are submitted one after the other stay in
  /// that order.
  virtual bool submit(Loan& loan, std::uint64_t key) noexcept = 0;
  /// True if no device serves any tile any more.
  virtual bool lost() const noexcept = 0;

 protected:
  ~TileTaker() = default;
};

/// The lanes of one run, on one device or several. A tile goes to the lane with the fewest tiles, among lanes that
/// still have their device; with batches, to the lane that gets the tile's neighbours in the pool, unless that lane has
/// some batches more. Where the pool has several parts, a lane next to the tile's part comes before the others, as long
/// as it has no more than that many more.
///
/// Threads: any may submit, cancel and ask `lost`; the rest is for the one that made it.
class LaneSet final : public TileTaker {
 public:
  /// The lane with number k gives its completions to `completions[k]`, which outlives it.
  ///
  /// Blocks: until each lane is ready for tiles, one after the other.
  /// Throws: as Lane; the lanes already started are closed again.
  LaneSet(std::vector<LanePlace> const& places, TileShape shape, std::size_t most_tiles, LaneOptions const& options,
          Stages const& stages, std::vector<CompletionTaker*> const& completions)
      : LaneSet(places, shape, most_tiles, options, stages, completions, std::nullopt) {}
  /// Makes the same set for a function that all lanes call.
  LaneSet(std::vector<LanePlace> const& places, TileShape shape, std::size_t most_tiles, LaneOptions const& options,
          Stages const& stages, Lane::OnCompletion on_completion)
      : LaneSet(places, shape, most_tiles, options, stages, {}, CompletionFunction(std::move(on_completion))) {}
  LaneSet(LaneSet const&) = delete;
  LaneSet& operator=(LaneSet const&) = delete;
  /// Cancels what has not started, waits for the rest.
  ///
  /// Blocks: until then.
  ~LaneSet();

  /// Hands a tile to a lane: to that of the calling thread, if lanes bring their tiles.
  bool submit(Loan& loan) noexcept override;
  /// Hands a tile to lane `key` modulo their number, also if that has lost its device.
  bool submit(Loan& loan, std::uint64_t key) noexcept override { return lanes_[key % lanes_.size()]->submit(loan); }
  bool lost() const noexcept override;
  std::size_t size() const noexcept { return lanes_.size(); }
  /// Calls Lane::wake for all.
  void wake() noexcept;
  /// Calls Lane::cancel for all.
  void cancel() noexcept;
  /// Calls Lane::flush for all.
  void flush() noexcept;
  /// Calls Lane::close for all.
  ///
  /// Blocks: until every tile is completed and every stage finished.
  void close();
  /// Calls `stop_taking` of all, for a thread that keeps a lane from its end. The lanes of a device end together. So
  /// if this thread is a lane's, the lanes on its device get idle and wait for it, and what they have there is not yet
  /// freed. Lanes that are bringing a tile are left behind. If this thread runs a kernel of a device, that device is
  /// abandoned, since the kernel does not end.
  ///
  /// Threads: any, also one that is in the taker of a lane's completions or its stage, while another is in `close`.
  /// Blocks:  until the others have come so far.
  void end_but_for_this_thread() noexcept;
  /// True on a thread that runs kernels or callbacks of one of the lanes' devices.
  ///
  /// Threads: any.
  bool is_thread_of_a_device() const noexcept;
  /// Calls `stages.merge` for each finished stage, in lane order; only once closed, and once. Says what failed of
  /// finishing and merging.
  std::vector<std::shared_ptr<Failure const>> merge(Stages const& stages);
  /// Counts of what each lane has done so far; `device` is left at 0.
  ///
  /// Threads: any.
  std::vector<LaneSnapshot> snapshots() const;
  /// Summaries of what each lane did; only once closed.
  std::vector<LaneSummary> summaries() const;
  /// CPUs that each lane's thread is bound to, as BoundThread::bound_to tells.
  std::vector<CpuSet> bound_to() const;
  /// Sentences on threads that could not be bound and stages that could not be captured; only once closed.
  std::vector<std::string> remarks() const;

 private:
  LaneSet(std::vector<LanePlace> const& places, TileShape shape, std::size_t most_tiles, LaneOptions const& options,
          Stages const& stages, std::vector<CompletionTaker*> const& completions,
          std::optional<CompletionFunction> function);
  /// The lanes next to a part of the pool.
  struct Near {
    std::vector<Lane*> lanes;
    std::atomic<std::size_t> turn{0};
  };
  void make_lanes(std::vector<LanePlace> const& places, TileShape shape, std::size_t most_tiles,
                  LaneOptions const& options, Stages const& stages, std::vector<CompletionTaker*> const& completions);
  void note_who_is_near(std::vector<LanePlace> const& places);
  Lane* lane_of_this_thread() const noexcept;

  std::optional<CompletionFunction> function_;  ///< Set if they were made for one.
  bool const bring_tiles_;                      ///< Lanes have a bringer.
  std::size_t const batch_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> all_;
  std::vector<Near> near_;                                ///< Lanes by part, up to the last that has one.
  std::vector<std::shared_ptr<Failure const>> failures_;  ///< Failures of their ends; with room for all.
};

}  // namespace penstock
