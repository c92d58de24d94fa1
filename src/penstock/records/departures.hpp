// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "penstock/core/event_count.hpp"
#include "penstock/records.hpp"
#include "penstock/records/claim.hpp"
#include "penstock/records/pack.hpp"

namespace penstock {

/// Where a writer's pack lies while the writer is elsewhere, so that others can send it.
///
/// Threads: any, through Departures.
template <class Atomics = StandardAtomics>
struct alignas(64) BasicDesk {
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;

  Atomic<Pack*> pack{nullptr};  ///< Null for none; `&at_work` while the writer has it.
  /// When the oldest record of the pack was put down.
  Atomic<std::chrono::steady_clock::rep> since{0};
  /// The clock found that the writer was at work on a pack that is late, and left it to the writer.
  Atomic<bool> overdue{false};
  Atomic<bool> taken{true};
  BasicClaim<Atomics> claim;  ///< On the pack that the writer has, while it fills room there.
  BasicDesk* next = nullptr;  ///< Never changes once others see this one.
  Pack at_work;               ///< Never used but for its address.
};

using Desk = BasicDesk<>;

/// Decides when packs leave: when full, when lanes are hungry, when the oldest record has waited long enough, when
/// asked. Every thread that writes a record, brings a tile back or watches the clock asks here.
///
/// While fewer than `hungry_below` tiles are under way no record lies on a desk, whichever thread comes first:
/// departures.pml is a model of that. Packs that wait longest leave first. Records beside room that their writer fills
/// leave like those on a desk, if there is a tile for them.
///
/// Threads: any, unless a function says otherwise.
template <class Atomics = StandardAtomics>
class BasicDepartures {
 public:
  using Desk = BasicDesk<Atomics>;
  using Clock = std::chrono::steady_clock;
  /// Takes a pack that leaves. Called by the thread that caused it, several at once. Must not throw.
  using Send = std::function<void(Pack&, Departure)>;
  /// Moves the records of a pack into `empty`, or into a tile of the pool if that is null, while the pack's writer
  /// fills room behind them; gives the pack where they are, or null if there is no tile. Must not throw.
  using Divide = std::function<Pack*(Pack& claimed, Pack* empty)>;

  BasicDepartures(std::size_t hungry_below, std::chrono::nanoseconds linger, Send send, Divide divide = {});
  BasicDepartures(BasicDepartures const&) = delete;
  BasicDepartures& operator=(BasicDepartures const&) = delete;
  /// No writer may be left.
  ~BasicDepartures();

  /// A place for a writer, until it is given back.
  ///
  /// Throws: std::bad_alloc.
  Desk& take_desk();
  /// Sends what lies on it.
  ///
  /// Threads: the writer's.
  void give_back(Desk& desk) noexcept;

  /// Takes up what lies on the desk: the writer's own pack, or null if it has none. Empty once `close` was called; the
  /// desk is then left as it was. Follow with exactly one `put_down`.
  ///
  /// Threads: the writer's.
  /// Throws:  Error, if it is taken up already.
  std::optional<Pack*> take_up(Desk& desk);
  /// Leaves a pack with at least one record on the desk, or null for none; and sees to it that it leaves if it should.
  ///
  /// Threads: the writer's.
  void put_down(Desk& desk, Pack* pack) noexcept;
  /// Lets others have the records of a pack that its writer has taken up, at least one, while the writer fills room
  /// behind them. Follow with `desk.claim.close()` before anything else is done to the pack.
  ///
  /// Threads: the writer's.
  void open_claim(Desk& desk, Pack& pack) noexcept;
  /// Records beside an open claim that were to leave, and found no tile, leave in this one; false if there are none.
  bool send_wanted(Pack& empty) noexcept;
  /// Sends a pack that its writer has taken up, whatever is under way.
  ///
  /// Threads: the writer's.
  void send(Pack& pack, Departure why) noexcept;
  /// Sends what lies on the desk.
  void send_from(Desk& desk, Departure why) noexcept;
  /// A tile that left is back: others may leave now.
  void returned() noexcept;

  /// Lets no record in any more, and sends what lies on the desks.
  ///
  /// Blocks: until every writer has put down what it took up, and each thread with a pack from a desk has sent it.
  void close() noexcept;
  /// Lets records in again.
  void reopen() noexcept { closed_.store(false, std::memory_order_seq_cst); }
  bool closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }

  /// To be called before `watch`.
  void begin_watch() noexcept { watch_over_.store(false, std::memory_order_seq_cst); }
  /// Sends what has waited long enough.
  ///
  /// Blocks: until `end_watch`, asleep while no pack waits.
  void watch() noexcept;
  void end_watch() noexcept;

  /// Tiles that left and are not back.
  std::size_t under_way() const noexcept { return under_way_.load(std::memory_order_seq_cst); }

 private:
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;
  using EventCount = BasicEventCount<Atomics>;
  /// How long a thread sleeps at most if only a bell is to wake it.
  static constexpr std::chrono::hours until_rung{1};
  /// How often to look for a tile, for records that should leave and have none.
  static constexpr std::chrono::milliseconds between_looks{1};

  bool enter() noexcept;
  /// What lies on the desk, or beside its open claim, now the caller's; null if there is nothing, or its writer has it.
  Pack* take_from(Desk& desk) const noexcept;
  /// The records beside an open claim, in another pack; null if there are none to be had.
  Pack* take_claimed(Desk& desk) const noexcept;
  void send_claimed(Desk& desk, Departure why) noexcept;
  void send_waiting() noexcept;
  void done_sending() noexcept;
  Desk* oldest() const noexcept;
  /// Sends what is late, and says when the next will be; empty if no pack waits.
  std::optional<Clock::time_point> send_late(Clock::time_point now) noexcept;

  std::size_t const hungry_below_;
  std::chrono::nanoseconds const linger_;
  Send const send_;
  Divide const divide_;
  alignas(64) Atomic<std::size_t> under_way_{0};
  /// Threads that take a pack from another thread's desk: each is counted before it takes, and until it has sent.
  Atomic<std::size_t> sending_{0};
  alignas(64) Atomic<Desk*> first_{nullptr};
  Atomic<bool> closed_{false};
  Atomic<bool> watch_asleep_{false};
  Atomic<bool> watch_over_{false};
  Atomic<bool> look_again_{false};  ///< Records beside a claim found no tile.
  EventCount bell_;                 ///< Rung for the thread that watches.
  EventCount put_away_;             ///< Rung for the thread that closes: a pack was put down, or sent.
};

// In departures_steps.hpp and departures_watch.hpp.
extern template class BasicDepartures<StandardAtomics>;
using Departures = BasicDepartures<>;

}  // namespace penstock
