// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/core/event_count.hpp"
#include "engine/core/pool.hpp"
#include "engine/lane/lane.hpp"

namespace penstock {

/// Counts of what became of a ring's tickets.
struct SoakCounts {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::uint64_t doubled = 0;     ///< Completions of a tile that was not out.
  std::uint64_t early = 0;       ///< Tiles in which some of what was uploaded still stood.
  std::uint64_t wrong = 0;       ///< Tiles that held what is neither theirs before nor after the stage.
  std::uint64_t disordered = 0;  ///< Tiles that came behind a younger one.
  std::uint64_t failed = 0;

  std::uint64_t lost() const { return submitted - completed; }
  bool clean() const { return lost() == 0 && doubled + early + wrong + disordered + failed == 0; }
  SoakCounts& operator+=(SoakCounts const& other);
};

/// One lane, and tiles that go round through it: each is looked at the moment it comes back, and goes out again later
/// with another ticket, to which its content belongs.
///
/// Each is worked on in place and doubled, as floats, so that one which comes early still holds what was uploaded.
/// Tiles that rest in between tell a second completion from the first.
///
/// Threads: what comes back is seen by the lane's; any may ask for counts.
class SoakRing {
 public:
  /// Number of tiles that a ring takes from the pool, for lanes of so many slots.
  static std::size_t tiles_for(unsigned slots) { return 2 * std::size_t{slots} + 2; }
  /// Makes a ring of `tickets` tickets, the first of them `first` of all; fewer, if `ending` becomes true. Notifies
  /// `bell` when all that went out are back.
  SoakRing(Device& device, Pool& pool, LaneOptions const& options, unsigned number, std::uint64_t first,
           std::uint64_t tickets, std::atomic<bool> const& ending, EventCount& bell);
  /// Sends the first tiles out. Call it once, when all rings are made: a busy device makes lanes slowly.
  void start();
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  SoakCounts counts() const;
  /// Closes the lane of a ring that has ended, and returns what it did.
  ///
  /// Blocks: until the lane has.
  LaneSummary close();

 private:
  using Count = std::atomic<std::uint64_t>;

  void back(Completion completion);
  void look_at(Tile const& tile);
  /// Gives the tile that has rested longest the next ticket and sends it out.
  void issue();
  bool has_more() const;

  std::uint64_t const first_;
  std::uint64_t const tickets_;
  std::size_t const resting_;  ///< Tiles that wait for their next ticket.
  std::atomic<bool> const& ending_;
  EventCount& bell_;
  std::atomic<bool> started_{false};
  std::atomic<bool> ended_{false};

  // The lane's thread only, once started.
  std::vector<bool> out_;  ///< Indexed by the tile's tag.
  std::deque<Loan> home_;
  std::uint64_t youngest_ = 0;

  // Written by one thread.
  Count submitted_{0}, completed_{0}, doubled_{0}, early_{0}, wrong_{0}, disordered_{0}, failed_{0};

  Lane lane_;  ///< The last member: its thread uses the others.
};

}  // namespace penstock
