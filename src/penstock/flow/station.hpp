// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <oneapi/tbb/flow_graph.h>

#include "penstock/core/event_count.hpp"
#include "penstock/flow/debts.hpp"
#include "penstock/flow/tile_record.hpp"

namespace penstock {

/// Shows a sanitizer that one thread may read what another wrote, where oneTBB orders the two: the sanitizer does not
/// see into oneTBB.
///
/// Threads: any.
class Baton {
 public:
  void give() noexcept { given_.fetch_add(1, std::memory_order_release); }
  /// What was written before any `give` until now is seen after this.
  void take() const noexcept { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  // Added to and not stored, so that a thread that takes sees what all that gave had written, not the last alone.
  std::atomic<std::uint64_t> given_{0};
};

/// A oneTBB graph in which a message may be refused for want of memory, and whose waiting thread sleeps.
class CallGraph final : public oneapi::tbb::flow::graph {
 public:
  /// Sends a message to a node without a limit, and tells the thread that waits that there is work for a consumer.
  /// False if oneTBB has no memory for it: the message is then gone, and nothing waits for it.
  ///
  /// Threads: any.
  template <class Node>
  bool call(Node& node) noexcept {
    counted = false;
    try {
      return node.try_put({});
    } catch (...) {
      // Counted when its task was made, and then not queued: without this `wait_for_all` would never return.
      if (counted) release_wait();
      return false;
    }
  }
  void reserve_wait() override {
    counted = true;
    graph::reserve_wait();
  }
  /// Tells the thread that waits that there is work for a consumer: a thread that saw the count finds the work.
  void ring() noexcept {
    calls_.fetch_add(1, std::memory_order_seq_cst);
    bell_.notify();
  }
  /// Keeps the thread that waits until `end_input`.
  void open_input() noexcept { debts_.open_input(); }
  void end_input() noexcept {
    if (debts_.end_input()) bell_.notify();
  }
  /// A record that is under way keeps the thread that waits; `settle` ends that.
  void owe() noexcept { debts_.owe(); }
  /// The thread that settles the last record is still in a body, or the thread that waits waits for it.
  void settle() noexcept {
    if (debts_.settle()) bell_.notify();
  }
  bool owes_nothing() const noexcept { return debts_.none(); }
  std::uint64_t owed() const noexcept { return debts_.owed(); }
  std::uint64_t calls() const noexcept { return calls_.load(std::memory_order_seq_cst); }
  /// Sleeps until there was a call after the first `seen`, or nothing is owed; awake for the time of `spin` first.
  void await_call(std::uint64_t seen, std::chrono::nanoseconds spin) noexcept {
    bell_.await([&] { return calls() != seen || owes_nothing(); }, spin, std::chrono::hours(1));
  }

 private:
  static thread_local bool counted;      ///< Whether the call that this thread makes has been counted by the graph.
  std::atomic<std::uint64_t> calls_{0};  ///< How often there was work for a consumer that may be asleep.
  EventCount bell_;
  Debts debts_;
};

/// What a consumer does with a record that waited for it in a station.
class StationWork {
 public:
  virtual void take(TileRecord& record) noexcept = 0;

 protected:
  ~StationWork() = default;
};

/// A node of the graph: records wait in it until a consumer does its work with them.
///
/// The records wait in a list that needs no memory. What goes through oneTBB is a call for a consumer, so a call that
/// oneTBB refuses delays records and loses none: `serve_refused` answers it.
///
/// Threads: any may push; the consumers serve.
class Station {
 public:
  static constexpr std::size_t unlimited = 0;

  /// `work` takes up to `at_once` records at a time. It and the graph outlive the station.
  Station(CallGraph& graph, std::size_t at_once, StationWork& work);
  Station(Station const&) = delete;
  Station& operator=(Station const&) = delete;

  /// Calls for a consumer, unless one that was called before takes the record as well.
  ///
  /// Blocks: never.
  void push(TileRecord& record) noexcept;
  /// Answers the calls that oneTBB has refused. Says how many there were.
  std::size_t serve_refused() noexcept;
  /// Shows a sanitizer that all work until now happened before: oneTBB orders them, unseen by the sanitizer.
  void take_ended() const noexcept { ended_.take(); }

 private:
  using Node = oneapi::tbb::flow::function_node<oneapi::tbb::flow::continue_msg>;

  void call() noexcept;
  void send() noexcept;
  void serve() noexcept;
  void serve_all() noexcept;
  void serve_some() noexcept;
  bool leave() noexcept;
  TileRecord* take_one(bool& more) noexcept;

  CallGraph& graph_;
  std::size_t const at_once_;
  StationWork& work_;
  Arrivals arrivals_;
  /// Consumers that were called and have not left; and, in the highest bit, whether one of them is to look again.
  std::atomic<std::uint32_t> serving_{0};
  std::atomic<std::size_t> refused_{0};  ///< Calls that nothing answers but `serve_refused`.
  std::mutex taken_mutex_;
  TileRecord* taken_ = nullptr;  ///< Taken from the arrivals, each linked to the next, and not yet served.
  Baton ended_;
  Node node_;
};

}  // namespace penstock
