// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "engine/core/event_count.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"
#include "penstock/records.hpp"
#include "records/desk.hpp"
#include "records/late_watch.hpp"
#include "records/pack.hpp"

namespace penstock {

/// Decides when packs leave: when full, when lanes are hungry, when the oldest record has waited long enough, or on
/// request. Every thread that writes a record, returns a tile or watches the clock calls it.
///
/// While fewer than `hungry_below` tiles are in progress, no pack with `least_bytes` stays on a desk, whichever thread
/// comes first: departures.pml is a model of that. Packs that wait longest leave first. Records beside room that their
/// writer fills leave like those on a desk, if there is a tile for them.
///
/// Threads: any, unless a function says otherwise.
template <class Atomics = StandardAtomics>
class BasicDepartures {
 public:
  using Desk = BasicDesk<Atomics>;
  using Clock = penstock::Clock;
  /// Takes a pack that leaves. Called by the thread that caused it, several at once. Must not throw.
  using Send = std::function<void(Pack&, Departure)>;
  /// Moves the records of a pack into `empty`, or into a tile of the pool if that is null, while the pack's writer
  /// fills room behind them; returns the pack where they are, or null if there is no tile. Must not throw.
  using Divide = std::function<Pack*(Pack& claimed, Pack* empty)>;

  struct Rules {
    std::size_t hungry_below = 1;  ///< Number of tiles in progress.
    std::size_t least_bytes = 0;   ///< Minimum number of bytes of a pack that hungry lanes get.
    std::chrono::nanoseconds linger{};
  };

  /// No writer may be left when it ends.
  BasicDepartures(Rules const& rules, Send send, Divide divide = {})
      : hungry_below_(std::max<std::size_t>(1, rules.hungry_below)),
        least_bytes_(rules.least_bytes),
        linger_(rules.linger),
        send_(std::move(send)),
        divide_(std::move(divide)) {}

  /// Takes a desk for a writer, until it is given back.
  ///
  /// Throws: std::bad_alloc.
  Desk& take_desk() { return desks_.take_desk(); }
  /// Sends the pack on it.
  ///
  /// Threads: the writer's.
  void give_back(Desk& desk) noexcept {
    send_from(desk, Departure::asked);
    desk.taken.store(false, std::memory_order_release);
  }

  /// Takes the pack on the desk: the writer's own pack, or null if it has none. Empty once `close` was called; the desk
  /// is then unchanged. Exactly one `put_down` must follow.
  ///
  /// Threads: the writer's.
  /// Throws:  Error, if it is taken up already.
  std::optional<Pack*> take_up(Desk& desk) {
    // This and the read of closed_ are seq_cst, as are their counterparts in close: either this thread sees that it is
    // closed, or the closing thread sees it at work and waits.
    Pack* const pack = desk.pack.exchange(&desk.at_work, std::memory_order_seq_cst);
    if (pack == &desk.at_work) {
      throw Error(ErrorKind::bad_argument, "The writer has claimed room for a record: commit it or let it go first.");
    }
    if (!closed()) return pack;
    put_down(desk, pack);
    return std::nullopt;
  }

  /// Puts a pack with at least one record on the desk, or null for none; and makes it leave if it should.
  ///
  /// Threads: the writer's.
  void put_down(Desk& desk, Pack* pack) noexcept {
    std::optional<Departure> why;
    if (pack != nullptr) {
      if (!pack->since) pack->since = Clock::now();
      // Relaxed: the clock only asks the writer to check here, now or with the next record.
      if (desk.overdue.load(std::memory_order_relaxed)) {
        desk.overdue.store(false, std::memory_order_relaxed);
        if (Clock::now() - *pack->since >= linger_) why = Departure::late;
      }
      if (why) {
        under_way_.fetch_add(1, std::memory_order_seq_cst);
      } else if (pack->used >= least_bytes_ && enter()) {
        why = Departure::hungry;
      }
    }
    if (why) {
      // The desk is marked "at work" until the pack is sent, so a thread that drains waits for it.
      send_(*pack, *why);
      pack = nullptr;
    } else if (pack != nullptr) {
      // Relaxed: the store after it orders it.
      desk.since.store(Desk::note(*pack->since, pack->used < least_bytes_), std::memory_order_relaxed);
    }
    // Seq_cst, as is the count in `returned`: either that thread finds the pack, or this one sees that lanes are
    // hungry.
    desk.pack.store(pack, std::memory_order_seq_cst);
    if (closed()) put_away_.notify();
    if (pack == nullptr) return;
    late_watch_.wake();
    send_waiting();
  }

  /// Gives others access to the records of a pack that its writer has taken, at least one, while the writer fills room
  /// behind them. Call `desk.claim.close()` before anything else is done to the pack.
  ///
  /// Threads: the writer's.
  void open_claim(Desk& desk, Pack& pack) noexcept {
    Clock::time_point const since = *pack.since;  // Others may move the records out once the claim is open.
    desk.claim.open(pack);
    // Either the clock's thread finds the claim, or this thread finds its mark here.
    if (desk.overdue.load(std::memory_order_seq_cst)) {
      desk.overdue.store(false, std::memory_order_relaxed);
      if (Clock::now() - since >= linger_) send_from(desk, Departure::late);
    }
    late_watch_.wake();
    send_waiting();
  }

  /// Sends records beside an open claim, which were to leave and found no tile, in this one; false if there are none.
  bool send_wanted(Pack& empty) noexcept {
    for (Desk* desk = desks_.first(); desk != nullptr; desk = desk->next) {
      if (!desk->claim.is_wanted()) continue;
      sending_.fetch_add(1, std::memory_order_seq_cst);
      Pack* const moved = desk->claim.divide([&](Pack& claimed) { return divide_(claimed, &empty); });
      if (moved != nullptr) {
        send(*moved, Clock::now() - *moved->since >= linger_ ? Departure::late : Departure::hungry);
      }
      done_sending();
      if (moved != nullptr) return true;
    }
    return false;
  }

  /// Sends a pack that its writer has taken, whatever is in progress.
  ///
  /// Threads: the writer's.
  void send(Pack& pack, Departure why) noexcept {
    under_way_.fetch_add(1, std::memory_order_seq_cst);
    send_(pack, why);
  }
  /// Sends the pack on the desk.
  void send_from(Desk& desk, Departure why) noexcept {
    // Counted before the pack is taken: a thread that drains finds the pack on the desk, or a counted sender.
    sending_.fetch_add(1, std::memory_order_seq_cst);
    if (Pack* const pack = desk.take_pack(with_a_tile())) send(*pack, why);
    done_sending();
  }
  /// Notes that a tile that left is back: others may leave now.
  void returned() noexcept {
    under_way_.fetch_sub(1, std::memory_order_seq_cst);
    send_waiting();
  }

  /// Admits no further records, and sends the packs on the desks.
  ///
  /// Blocks: until every writer has put down what it took up, and each thread with a pack from a desk has sent it.
  void close() noexcept {
    closed_.store(true, std::memory_order_seq_cst);
    for (Desk* desk = desks_.first(); desk != nullptr; desk = desk->next) {
      // Repeats until nothing is there: the writer may still take the pack after the check, and then finds that this is
      // closed.
      while (Pack const* const pack = desk->pack.load(std::memory_order_seq_cst)) {
        if (pack == &desk->at_work) {
          put_away_.await([&] { return desk->pack.load(std::memory_order_seq_cst) != &desk->at_work; }, {}, until_rung);
        } else {
          send_from(*desk, Departure::asked);
        }
      }
    }
    auto const all_sent = [&] { return sending_.load(std::memory_order_seq_cst) == 0; };
    while (!put_away_.await(all_sent, {}, until_rung)) {
    }
  }
  /// Admits records again.
  void reopen() noexcept { closed_.store(false, std::memory_order_seq_cst); }
  bool closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }

  /// Must be called before `watch`.
  void begin_watch() noexcept { late_watch_.begin(); }
  /// Sends packs that have waited long enough, until `end_watch`.
  ///
  /// Blocks: until `end_watch`, asleep while no pack waits.
  void watch() noexcept {
    late_watch_.watch([this](Clock::time_point now) { return send_late(now); });
  }
  void end_watch() noexcept { late_watch_.end(); }

  /// Number of tiles that left and are not back.
  std::size_t under_way() const noexcept { return under_way_.load(std::memory_order_seq_cst); }

 private:
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;
  /// Interval between attempts to find a tile for records that should leave.
  static constexpr std::chrono::milliseconds between_looks{1};

  bool enter() noexcept {
    std::size_t now = under_way_.load(std::memory_order_seq_cst);
    while (now < hungry_below_) {
      if (under_way_.compare_exchange_weak(now, now + 1, std::memory_order_seq_cst, std::memory_order_seq_cst))
        return true;
    }
    return false;
  }
  /// Moves the records beside a claim to a tile of the pool.
  auto with_a_tile() const noexcept {
    return [this](Pack& claimed) { return divide_(claimed, nullptr); };
  }
  void done_sending() noexcept {
    sending_.fetch_sub(1, std::memory_order_seq_cst);
    if (closed()) put_away_.notify();
  }

  void send_waiting() noexcept {
    while (under_way_.load(std::memory_order_seq_cst) < hungry_below_) {
      Desk* const desk = desks_.oldest();
      if (desk == nullptr || !enter()) return;
      sending_.fetch_add(1, std::memory_order_seq_cst);
      if (Pack* const pack = desk->take_pack(with_a_tile())) {
        send_(*pack, Departure::hungry);
      } else {
        // Its writer was quicker, or records beside a claim found no tile. Another thread may have found the lanes busy
        // because of our count, so check once more.
        under_way_.fetch_sub(1, std::memory_order_seq_cst);
        if (desk->claim.is_wanted()) late_watch_.look_again();
      }
      done_sending();
    }
  }

  /// Sends late packs, and returns the time of the next one; empty if no pack waits.
  std::optional<Clock::time_point> send_late(Clock::time_point now) noexcept {
    std::optional<Clock::time_point> next;
    auto const at_latest = [&](Clock::time_point then) { next = std::min(next.value_or(then), then); };
    for (Desk* desk = desks_.first(); desk != nullptr; desk = desk->next) {
      Pack const* const pack = desk->pack.load(std::memory_order_seq_cst);
      if (pack == nullptr) continue;
      Clock::time_point const late = Clock::time_point(Clock::duration(desk->since.load(std::memory_order_relaxed))) +
                                     std::chrono::duration_cast<Clock::duration>(linger_);
      bool const is_late = late <= now;
      if (pack != &desk->at_work) {
        if (is_late) {
          send_from(*desk, Departure::late);
        } else {
          at_latest(late);
        }
        continue;
      }
      if (!is_late && !desk->claim.is_wanted()) {
        at_latest(late);
        continue;
      }
      // Seq_cst: either the writer that opens a claim finds this, or this thread finds the claim.
      if (is_late) desk->overdue.store(true, std::memory_order_seq_cst);
      // This takes only records beside a claim: the time belongs to the present pack of the writer, not to one that it
      // may put down meanwhile.
      sending_.fetch_add(1, std::memory_order_seq_cst);
      if (Pack* const moved = desk->claim.divide(with_a_tile())) {
        send(*moved, is_late ? Departure::late : Departure::hungry);
      }
      done_sending();
      if (desk->claim.is_wanted()) at_latest(now + between_looks);
    }
    return next;
  }

  std::size_t const hungry_below_;
  std::size_t const least_bytes_;
  std::chrono::nanoseconds const linger_;
  Send const send_;
  Divide const divide_;
  alignas(64) Atomic<std::size_t> under_way_{0};
  /// Threads that take a pack from another thread's desk: each is counted before it takes, and until it has sent.
  Atomic<std::size_t> sending_{0};
  alignas(64) BasicDesks<Atomics> desks_;
  Atomic<bool> closed_{false};
  BasicLateWatch<Atomics> late_watch_;
  BasicEventCount<Atomics> put_away_;  ///< Notifies the thread that closes: a pack was put down, or sent.
};

using Departures = BasicDepartures<>;

}  // namespace penstock
