// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <tuple>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_arena.h>

#include "engine/core/event_count.hpp"
#include "engine/flow/debts.hpp"
#include "engine/flow/tile_record.hpp"

namespace penstock {

/// Shows a sanitizer that one thread may read what another wrote, where oneTBB orders the two: the sanitizer does not
/// see into oneTBB.
///
/// Threads: any.
class Baton {
 public:
  void give() noexcept { given_.fetch_add(1, std::memory_order_release); }
  /// After this, all that was written before any `give` until now is seen.
  void take() const noexcept { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  // It is added to and not stored, so that a thread that takes sees what all that gave had written, not the last alone.
  std::atomic<std::uint64_t> given_{0};
};

/// A oneTBB graph in which a message may be refused for want of memory, and whose waiting thread sleeps.
class CallGraph final : public oneapi::tbb::flow::graph {
 public:
  /// Sends a message to a node without a limit, and tells the thread that waits that there is work for a consumer: a
  /// thread that saw the count of calls finds the work. If oneTBB has no memory for the message it is gone, and counts
  /// in `refused`.
  ///
  /// Threads: any.
  template <class Node>
  void call(Node& node, std::atomic<std::size_t>& refused) noexcept {
    counted = false;
    bool sent = false;
    try {
      // oneTBB gives a task the isolation of the thread that makes it. Made within a body, and not here, the task could
      // be run by that body's own wait.
      sent = oneapi::tbb::this_task_arena::isolate([&] { return node.try_put({}); });
    } catch (...) {
      // Its task was counted when it was made, and then not queued: without this `wait_for_all` would never return.
      if (counted) release_wait();
    }
    if (!sent) refused.fetch_add(1, std::memory_order_release);
    calls_.fetch_add(1, std::memory_order_seq_cst);
    bell_.notify();
  }
  void reserve_wait() override {
    counted = true;
    graph::reserve_wait();
  }
  /// Has the thread that waits look again.
  void wake() noexcept { bell_.notify(); }
  std::uint64_t calls() const noexcept { return calls_.load(std::memory_order_seq_cst); }
  /// Sleeps until there was a call after the first `seen`, or nothing is owed; awake for the time of `spin` first.
  void await_call(std::uint64_t seen, Debts const& debts, std::chrono::nanoseconds spin) noexcept {
    bell_.await([&] { return calls() != seen || debts.none(); }, spin, std::chrono::hours(1));
  }

 private:
  static thread_local bool counted;      ///< True once the graph has counted the call that this thread makes.
  std::atomic<std::uint64_t> calls_{0};  ///< Times that there was work for a consumer that may be asleep.
  EventCount bell_;
};

/// A node that takes records and gives records, without memory and without an exception: what it has to do with a
/// message is done before `try_put` returns, on the thread that calls that.
using GroupNode =
    oneapi::tbb::flow::multifunction_node<RecordGroup, std::tuple<RecordGroup>, oneapi::tbb::flow::lightweight>;

/// A place where edges begin and end.
class GraphPlace {
 public:
  /// The receiver of messages that come in.
  virtual oneapi::tbb::flow::receiver<RecordGroup>& in() noexcept = 0;
  /// Makes the edges from here.
  ///
  /// Throws: std::bad_alloc.
  virtual void lead_to(oneapi::tbb::flow::receiver<RecordGroup>& next) = 0;

 protected:
  ~GraphPlace() = default;
};

/// A node of the graph: records that come wait in it until a consumer does its work with them, and may pass them on.
///
/// The records wait in a list that needs no memory. What oneTBB makes a task of is a call for a consumer, so a call
/// that it refuses delays records and loses none: `serve_refused` answers it. An edge takes a lock while a message
/// passes, so the nodes behind it only keep the message, or hand it to a lane.
///
/// Threads: any may push; the consumers serve.
class Station final : public GraphPlace {
 public:
  static constexpr std::size_t unlimited = 0;

  /// `work` takes up to `at_once` records at a time. It and the graph outlive the station.
  Station(CallGraph& graph, std::size_t at_once, StationWork& work);
  Station(Station const&) = delete;
  Station& operator=(Station const&) = delete;

  /// Each message calls for a consumer, unless one that was called before takes its records as well.
  oneapi::tbb::flow::receiver<RecordGroup>& in() noexcept override { return node_; }
  void lead_to(oneapi::tbb::flow::receiver<RecordGroup>& next) override;
  /// Keeps a record that comes from outside of the graph, and so over no edge.
  ///
  /// Blocks: never.
  void push(TileRecord& record) noexcept {
    record.next = nullptr;
    keep({&record, &record});
  }
  /// For the work: sends a record over the edge to the next node. It may belong to another thread then.
  void pass_on(TileRecord& record) noexcept {
    record.next = nullptr;
    std::get<0>(node_.output_ports()).try_put({&record, &record});
  }
  /// Answers the calls that oneTBB has refused. Says how many there were.
  std::size_t serve_refused() noexcept;
  /// Shows a sanitizer that all work until now happened before: oneTBB orders them, unseen by the sanitizer.
  void take_ended() const noexcept { ended_.take(); }

 private:
  void keep(RecordGroup const& records) noexcept;
  void call() noexcept;
  void serve() noexcept;
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
  GroupNode node_;
  oneapi::tbb::flow::function_node<oneapi::tbb::flow::continue_msg> consumer_;
};

/// The node of the lanes: what comes in is handed to a lane at once, and each lane has a way out of its own, since the
/// lock of an edge would make lanes wait for each other.
///
/// Threads: any.
/// Blocks:  never.
class LanesNode final : public GraphPlace {
 public:
  /// What is put in reaches the next node, on the thread that calls `try_put`.
  using WayOut = oneapi::tbb::flow::broadcast_node<RecordGroup>;

  /// `work` takes each record that comes in. It and the graph outlive the node.
  LanesNode(CallGraph& graph, std::size_t ways_out, StationWork& work);
  LanesNode(LanesNode const&) = delete;
  LanesNode& operator=(LanesNode const&) = delete;

  oneapi::tbb::flow::receiver<RecordGroup>& in() noexcept override { return in_; }
  void lead_to(oneapi::tbb::flow::receiver<RecordGroup>& next) override;
  WayOut& way_out(std::size_t number) noexcept { return out_[number]; }

 private:
  GroupNode in_;
  std::deque<WayOut> out_;
};

}  // namespace penstock
