// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/flow/crew.hpp"
#include "engine/flow/kept_tiles.hpp"
#include "engine/flow/lanes_bring.hpp"
#include "engine/flow/reserve_keeper.hpp"
#include "engine/machine/bound_thread.hpp"
#include "engine/machine/cpu_set.hpp"
#include "engine/plan/places.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/steps.hpp"
#include "penstock/tile.hpp"

namespace penstock {

class Run;

/// The threads that pull a source: borrow a tile, ask what comes next, fill it, send it on.
///
/// A tile is borrowed before its place in the order is given out, so a producer that holds a place can always finish
/// it. Producers that are not needed rest.
///
/// With lanes that bring their tiles themselves there are no threads: each lane is a producer.
///
/// Threads: the one that made it.
class Producers final : private BringsTiles {
 public:
  /// Starts one thread per entry of `places`, or has the run's lanes bring tiles, of which each has its entry. All of
  /// them work for `pool`, as `WorksFor` has it. They send what they filled to the run, and end with the input or once
  /// the run has enough; the last one ends the run's input. None fills a tile before all threads are there.
  ///
  /// They wait for the time of `patience` for tiles that the sink keeps, before that is said (KeptTiles).
  ///
  /// `recorder` and `ranges` are told what they do; null for none.
  ///
  /// Throws: Error, if the system refuses a thread: the source was then asked for nothing, and the run's input goes
  ///         on.
  Producers(Run& run, Pool& pool, Source& source, std::vector<ProducerPlace> const& places,
            std::chrono::nanoseconds patience, StepLog* recorder = nullptr, Ranges* ranges = nullptr);
  Producers(Producers const&) = delete;
  Producers& operator=(Producers const&) = delete;
  /// Blocks: until the threads have ended; of lanes, until none of them brings a tile.
  ~Producers();

  std::chrono::nanoseconds borrow_wait() const noexcept { return std::chrono::nanoseconds(borrow_wait_.load()); }
  std::chrono::nanoseconds fill() const noexcept { return std::chrono::nanoseconds(fill_.load()); }
  std::chrono::nanoseconds rested() const noexcept { return crew_.rested(); }
  /// CPUs that each thread is bound to, as BoundThread::bound_to tells.
  std::vector<CpuSet> bound_to() const;
  /// Threads that could not be bound, in words.
  std::vector<std::string> remarks() const;

 private:
  /// A turn of a lane: borrows, asks the source, fills, sends on.
  bool bring(std::size_t lane) noexcept override;
  void all_ended() override;
  void start_threads();
  void produce(std::size_t worker);
  bool produce_next(std::stop_token const& stop, std::size_t worker, Clock::time_point asked, Crew::Turn& turn);
  bool all_kept(std::size_t waiting) const noexcept;
  void produce_one(Loan loan, std::uint64_t sequence, Clock::time_point began, Crew::Turn& turn);
  std::optional<std::uint64_t> claim(Tile& tile, Clock::time_point& began);
  void end_input(std::shared_ptr<Failure const> why);

  Run& run_;
  Pool& pool_;
  Source& source_;
  std::vector<ProducerPlace> const places_;
  StepLog* const recorder_;  ///< Null for none.
  Ranges* const ranges_;     ///< Null for none.
  /// Wakes the producers that wait for a tile that they no longer need.
  std::stop_source enough_;
  std::stop_callback<std::function<void()>> pass_on_;
  ReserveKeeper reserve_;  ///< It outlives the crew and the threads.
  Crew crew_;
  KeptTiles kept_;
  std::mutex claim_mutex_;
  bool input_ended_ = false;
  std::uint64_t next_sequence_ = 0;
  std::shared_ptr<Failure const> failure_;
  std::atomic<std::int64_t> borrow_wait_{0};
  std::atomic<std::int64_t> fill_{0};
  std::atomic<std::size_t> going_;    ///< Threads that have not ended.
  std::promise<bool> all_are_there_;  ///< False: the run cannot start.
  std::shared_future<bool> const began_{all_are_there_.get_future()};
  std::vector<BoundThread> threads_;  ///< The last member: they use the others.
};

}  // namespace penstock
