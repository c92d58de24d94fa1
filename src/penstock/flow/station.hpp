// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

#include <oneapi/tbb/flow_graph.h>

#include "penstock/flow/arrivals.hpp"
#include "penstock/flow/journey.hpp"

namespace penstock {

/// A oneTBB graph in which a message may be refused for want of memory.
class CallGraph final : public oneapi::tbb::flow::graph {
 public:
  /// Sends a message to a node without a limit. False if oneTBB has no memory for it: the message is then gone, and
  /// nothing waits for it.
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

 private:
  static thread_local bool counted;  ///< Whether the call that this thread makes has been counted by the graph.
};

/// A node of the graph: journeys wait in it until a consumer takes them through its body.
///
/// The journeys wait in a list that needs no memory. What goes through oneTBB is a call for a consumer, so a call that
/// oneTBB refuses delays journeys and loses none: `serve_refused` answers it.
///
/// Threads: any may push; the consumers serve.
class Station {
 public:
  using Body = std::function<void(Journey&)>;
  static constexpr std::size_t unlimited = 0;

  /// `body` takes up to `at_once` journeys at a time. `called` is told of each call that was sent, or refused by
  /// oneTBB. Neither throws. The graph must outlive the station.
  Station(CallGraph& graph, std::size_t at_once, Body body, std::function<void()> called);
  Station(Station const&) = delete;
  Station& operator=(Station const&) = delete;

  /// Calls for a consumer, unless one that was called before takes the journey as well.
  ///
  /// Blocks: never.
  void push(Journey& journey) noexcept;
  /// Answers the calls that oneTBB has refused. Says how many there were.
  std::size_t serve_refused() noexcept;
  /// Shows a sanitizer that all bodies until now happened before: oneTBB orders them, unseen by the sanitizer.
  void take_ended() const noexcept { ended_.take(); }

 private:
  using Node = oneapi::tbb::flow::function_node<oneapi::tbb::flow::continue_msg>;

  void call() noexcept;
  void send() noexcept;
  void serve() noexcept;
  void serve_all() noexcept;
  void serve_some() noexcept;
  bool leave() noexcept;
  Journey* take_one(bool& more) noexcept;

  CallGraph& graph_;
  std::size_t const at_once_;
  Body const body_;
  std::function<void()> const called_;
  Arrivals arrivals_;
  /// Consumers that were called and have not left; and, in the highest bit, whether one of them is to look again.
  std::atomic<std::uint32_t> serving_{0};
  std::atomic<std::size_t> refused_{0};  ///< Calls that nothing answers but `serve_refused`.
  std::mutex taken_mutex_;
  Journey* taken_ = nullptr;  ///< Taken from the arrivals, each linked to the next, and not yet served.
  Baton ended_;
  Node node_;
};

}  // namespace penstock
