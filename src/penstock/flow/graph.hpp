// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/flow/journey.hpp"
#include "penstock/machine/cpu_set.hpp"
#include "penstock/options.hpp"
#include "penstock/recorder.hpp"

namespace penstock {

/// The oneTBB graph around the lanes: host stages before them, order and sink behind them.
///
/// Journeys wait in queues of its own that need no memory. A message of oneTBB only calls for a consumer; if oneTBB has
/// no memory for one, the thread in `wait` does that consumer's work. Bodies never throw into oneTBB and the graph is
/// never cancelled, so every journey that enters arrives.
///
/// Threads: any.
class Graph {
 public:
  using Step = std::function<void(Journey&)>;

  struct Options {
    std::vector<HostStage> host_stages = {};
    bool ordered = false;              ///< The sink sees tiles by sequence 0, 1, 2 ...
    bool parallel_sink = false;        ///< Several tiles in the sink at once.
    bool sink_at_once = false;         ///< `arrive` calls `to_sink` itself, unless there is an order.
    std::size_t tiles = 0;             ///< How many journeys there can be at once; needed for order.
    std::size_t consumers = 1;         ///< Threads in the graph, the waiting one among them.
    std::chrono::nanoseconds spin{0};  ///< How long the waiting one watches for work before it sleeps.
    CpuSet cpus = {};                  ///< Where the others may run; empty for anywhere.
    void const* owner = nullptr;       ///< A thread in a host stage, `to_lanes` or `to_sink` works for it (`WorksFor`).
    Recorder* recorder = nullptr;      ///< Is told what host stages do; null for none.
    Ranges* ranges = nullptr;          ///< Likewise.
  };

  /// `to_lanes` is called for each journey that passed the host stages without failing, `to_sink` for each that is
  /// complete; neither throws. The thread that makes it may `wait` without `attach`.
  ///
  /// Throws: Error, if the system refuses a thread; std::bad_alloc.
  Graph(Options const& options, Step to_lanes, Step to_sink);
  /// Blocks: as `wait`.
  ~Graph();

  /// Sends a filled tile in.
  ///
  /// Blocks: never; without host stages it runs `to_lanes` before it returns.
  void enter(Journey& journey);
  /// Sends a completed tile, which entered before, on to the sink.
  ///
  /// Blocks: never; with `sink_at_once` it runs `to_sink` before it returns.
  void arrive(Journey& journey);
  /// Keeps `wait` from returning until `release`, once for each call.
  void hold();
  void release();
  /// Only while nothing waits: consumers that could not be bound and messages that were refused, in words.
  std::vector<std::string> remarks() const;
  /// Makes what oneTBB needs on the calling thread, so that `wait` needs no memory there.
  ///
  /// Throws: std::bad_alloc.
  void attach();
  /// Works in the graph until every journey that entered has been through the sink and nothing holds it. Sleeps while
  /// there is nothing to do.
  ///
  /// Threads: one at a time, and none that is in a host stage, `to_lanes` or `to_sink`.
  /// Blocks:  until then. Without a thread in it nothing may move.
  void wait();

 private:
  struct Nodes;
  std::unique_ptr<Nodes> nodes_;
};

}  // namespace penstock
