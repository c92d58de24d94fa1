// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/flow/debts.hpp"
#include "engine/machine/cpu_set.hpp"

namespace penstock {

class GraphPlace;
class LanesNode;
class Station;
class StationWork;

/// The oneTBB graph of a run: stations, in which host stages, order and sink do their work, the node of the lanes, the
/// edges between these, and the consumers.
///
/// Messages are tile records. They wait in lists of the stations that need no memory. A task of oneTBB is a call for a
/// consumer; if oneTBB has no memory for one, the thread in `wait` does that consumer's work. Work never throws into
/// oneTBB and the graph is never cancelled, so no record is lost.
///
/// Threads: any, but for `add`, `add_lanes` and `join`.
class Graph {
 public:
  /// Serves `consumers` consumers, the thread that waits among them, which watches for work for the time of `spin`
  /// before it sleeps. `cpus` are those of each consumer, beginning with the thread that waits, which binds itself; a
  /// consumer without any may run anywhere. The thread that makes it may `wait` without `attach`.
  ///
  /// Throws: std::bad_alloc.
  Graph(std::size_t consumers, std::chrono::nanoseconds spin, std::vector<CpuSet> const& cpus);
  Graph(Graph const&) = delete;
  Graph& operator=(Graph const&) = delete;
  /// Blocks: as `wait`.
  ~Graph();

  /// A station whose work, which must outlive the graph, is done for up to `at_once` records at a time.
  ///
  /// Threads: the one that made the graph, before `start`.
  /// Throws:  std::bad_alloc.
  Station& add(std::size_t at_once, StationWork& work);
  /// The node of `lanes` lanes, with one more way out for tiles that no lane had. `work` hands a record to a lane.
  ///
  /// Threads, Throws: as add.
  LanesNode& add_lanes(std::size_t lanes, StationWork& work);
  /// Makes an edge: what the first passes on reaches the second.
  ///
  /// Threads, Throws: as add.
  static void join(GraphPlace& from, GraphPlace& to);
  /// Starts the consumers. Call it once, when all stations are there: a thread that is started then sees them whole.
  ///
  /// Throws: Error, if the system refuses a thread; std::bad_alloc.
  void start();
  /// Keeps `wait` from returning until `end_input`, after which no record is owed that was not owed before.
  void open_input() noexcept { debts_.open_input(); }
  void end_input() noexcept {
    if (debts_.end_input()) owes_nothing();
  }
  /// Keeps `wait` from returning until `settle`, once for each call: for each record that is under way. The thread that
  /// settles the last one is still in a station's work, or the thread that waits waits for it.
  void owe() noexcept { debts_.owe(); }
  void settle() noexcept {
    if (debts_.settle()) owes_nothing();
  }
  /// Records that came so far, and those that are under way at this moment.
  std::uint64_t came() const noexcept { return debts_.came(); }
  std::uint64_t owed() const noexcept { return debts_.owed(); }
  /// CPUs that each consumer but the thread that waits is bound to, as BoundThread::bound_to tells.
  std::vector<CpuSet> bound_to() const;
  /// Sentences on consumers that could not be bound and messages that were refused; only while nothing waits.
  std::vector<std::string> remarks() const;
  /// Makes what oneTBB needs on the calling thread, so that `wait` needs no memory there.
  ///
  /// Throws: std::bad_alloc.
  void attach();
  /// Works in the graph until the input has ended and nothing is owed. Sleeps while there is nothing to do.
  ///
  /// Threads: one at a time, and none that is in a station's work.
  /// Blocks:  until then. Without a thread in it nothing may move.
  void wait();

 private:
  struct Nodes;
  /// Wakes the thread that waits.
  void owes_nothing() noexcept;

  Debts debts_;
  std::unique_ptr<Nodes> nodes_;
};

}  // namespace penstock
