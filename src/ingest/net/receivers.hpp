// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/of_tiles.hpp"
#include "engine/machine/ending.hpp"
#include "engine/machine/poll_set.hpp"
#include "ingest/net/contents.hpp"
#include "ingest/net/naps.hpp"

namespace penstock {

/// A group of sockets that one thread at a time reads from.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Appends some of the available data to the tile's content; false if there is no more.
  ///
  /// Blocks: never.
  virtual bool receive(Contents& contents) = 0;
  /// A descriptor that is readable while there may be something to receive.
  virtual int descriptor() const noexcept = 0;
  /// True if it has data that found no room in its last tile, whatever its socket has.
  ///
  /// Shape: its descriptor can be written to.
  virtual bool holds() const noexcept { return false; }
  /// Called when it had no more: returns the time for which it may be left alone, while the tile lingers.
  virtual std::chrono::microseconds nap() noexcept { return Naps::shortest; }
  /// Called at the end of the input: nothing is received any more.
  virtual void end() noexcept {}
};

/// Fills tiles from several receivers, each of which has one tile at a time. The data of one receiver is thus in tiles
/// in the order in which it came, whatever the number of producers.
///
/// Threads: as Source.
class Receivers {
 public:
  struct Options {
    std::chrono::microseconds linger = {};
    std::optional<std::chrono::milliseconds> idle = {};
  };
  /// Makes receivers for tiles of `pool`. `ending` must outlive this.
  ///
  /// Throws: Error of kind bad_argument, if the tiles have no input, or a second one in which no Stretch fits.
  Receivers(Pool const& pool, Ending& ending, Options options);

  /// Must be called before the first tile.
  ///
  /// Shape: it outlives this.
  void add(Receiver& receiver);
  /// These have the contracts of Source.
  ///
  /// Blocks: until a receiver has bytes for the tile, or the end is requested.
  bool next(Tile& tile);
  /// Blocks: until the tile is full, or `linger` since its first bytes has passed, or the end is requested.
  std::size_t fill(Tile& tile);
  std::vector<Stretch> const& stretches_of(Tile const& tile) { return jobs_.of(tile).contents.stretches; }

 private:
  using WallClock = std::chrono::steady_clock;
  struct Job {
    Receiver* receiver = nullptr;
    Contents contents = {};
    WallClock::time_point first = {};
  };
  class Turn;
  static constexpr unsigned over = std::numeric_limits<unsigned>::max();
  Receiver* wait_for_one();
  bool begin_turn() noexcept;
  void end_if_over() noexcept;
  bool may_go_on(Job const& job, Receiver& receiver, bool more) const;

  Ending& ending_;
  Options const options_;
  OfTiles<Job, 1> jobs_;
  PollSet set_;
  std::vector<Receiver*> all_;
  std::atomic<unsigned> at_work_{0};                ///< Number of receivers that fill a tile, or `over`.
  std::atomic<WallClock::time_point> last_came_{};  ///< Time at which the last bytes came.
};

}  // namespace penstock
