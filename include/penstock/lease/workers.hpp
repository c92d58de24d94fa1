// SPDX-License-Identifier: Apache-2.0
// Processes that work on a ledger, and the one that starts, watches and replaces them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// One worker, as it is now.
struct WorkerState {
  unsigned place = 0;         ///< 1, 2 ...
  int process = 0;            ///< 0: none runs at this place.
  std::uint64_t started = 0;  ///< Processes that were started at this place.
  bool reports = false;       ///< It has a WorkerReport, so a hang can be seen.
  bool holds = false;         ///< It has leases out.
  std::uint64_t moved = 0;    ///< WorkerReport::moved of this process.
  bool is_over = false;       ///< No more are started at this place.
};

struct WorkersSnapshot {
  std::vector<WorkerState> workers = {};
  std::uint64_t replaced = 0;                 ///< Processes that ended, and whose place got another one.
  std::uint64_t hung = 0;                     ///< Of all that ended, those that were killed because they hung.
  std::optional<LedgerProgress> ledger = {};  ///< As it was seen last; empty before.
  double leases_per_second = 0;               ///< Between the last two looks at the ledger.
};

struct WorkersOptions {
  /// The program, as a path with a slash in it, and its arguments.
  std::vector<std::string> command = {};
  unsigned workers = 1;
  /// Environment variables for the worker of this place, besides PENSTOCK_WORKER ("2/4"). An empty function adds none.
  std::function<std::vector<std::pair<std::string, std::string>>(unsigned place)> environment = {};
  /// A worker that has leases out, and for so long moves none of them, is killed; so is one that is stopped for so
  /// long. It must be longer than a tile or an answer may take.
  std::chrono::milliseconds patience = std::chrono::seconds(60);
  /// Time from SIGTERM to SIGKILL for workers that are asked to end.
  std::chrono::milliseconds grace = std::chrono::seconds(30);
  /// Pauses before a worker that ended again and again, without an answer and within ten seconds, is started anew. They
  /// double.
  std::chrono::milliseconds shortest_pause = std::chrono::seconds(1);
  std::chrono::milliseconds longest_pause = std::chrono::seconds(30);
  /// Gets whole lines of the workers' standard output, of one worker at a time. Returns false if they have no reader,
  /// and then the workers are asked to end. Empty: they go to standard output. Threads: one of Workers.
  std::function<bool(std::string_view lines)> output = {};
  /// The same for their standard error. Empty: they go to standard error, each behind "worker 2: ".
  std::function<void(unsigned place, std::string_view lines)> complaint = {};
  /// Called after each look at the ledger, about once a second. Threads: one of Workers.
  std::function<void(WorkersSnapshot const&)> looked = {};
  /// Called by the thread that watches the workers, at least once a second: for a watchdog of that thread. It must not
  /// block.
  std::function<void()> beat = {};
};

enum class WorkersEnd : std::uint8_t {
  over,     ///< Each worker ended with code 0, or the ledger is finished.
  stopped,  ///< The stop was requested.
  refused   ///< A worker ended with Workers::bad_options.
};

/// Keeps a number of processes at work on a ledger. It starts them, each told its place by PENSTOCK_WORKER, and
/// replaces one that ended, hangs or is stopped; the others do not notice.
///
/// | a worker that | then |
/// |---|---|
/// | ends with code 0 | is over |
/// | ends with code 2 (bad_options) | lets all others end, and none is started again |
/// | ends with another code, or by a signal | is started again, unless the ledger is finished |
/// | hangs | is killed by SIGKILL, and started again |
///
/// The system says at once that a process ended, so no time is involved; what it had out is made ready by this process.
/// A hang is judged by what the worker says of itself (WorkerReport, which LeaseSource has), and not by time alone:
/// time in which it waits for the ledger or for the disk of its AnswerFiles, in which it has no lease out, or in which
/// this process did not run or could not pass on output does not count. A worker without a report is never taken for
/// hung, unless SIGSTOP stopped it.
///
/// Each worker has a process group of its own, so that ctrl-C reaches this process alone, and the group is killed with
/// it. If this process dies, the system kills the workers.
///
/// Threads: the one that calls `run`, which must live as long as the workers; `snapshot` any. It has two more.
class Workers {
 public:
  /// Exit code of a worker whose options or settings are bad, so that each other would end likewise.
  static constexpr int bad_options = 2;

  /// The ledger must outlive it.
  ///
  /// Throws: Error of kind bad_argument, if there is no command or no worker.
  Workers(Ledger& ledger, WorkersOptions options);
  Workers(Workers const&) = delete;
  Workers& operator=(Workers const&) = delete;
  ~Workers();

  /// Starts the workers. When a stop is requested they get SIGTERM, and after the grace SIGKILL.
  ///
  /// Blocks: until no worker runs.
  /// Throws: Error of kind system, if a worker cannot be started; what the ledger throws, if it cannot be used. The
  ///         workers have ended then.
  WorkersEnd run(std::stop_token const& stop = {});
  WorkersSnapshot snapshot() const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

/// What a worker says of itself to the Workers that started it. In another process it does nothing. LeaseSource and
/// AnswerFiles have one each; a program that uses LeaseOwner itself should make one.
///
/// Threads: `moved` and `answered` any; the others one at a time.
/// Blocks:  never.
class WorkerReport {
 public:
  WorkerReport() noexcept;
  WorkerReport(WorkerReport const&) = delete;
  WorkerReport& operator=(WorkerReport const&) = delete;
  ~WorkerReport();

  /// A part of a lease was done: a tile came home, say.
  void moved() noexcept;
  /// A lease was answered, and the ledger has that. A worker that ends again and again without an answer pauses.
  void answered() noexcept;
  /// That many leases are out.
  void holds(std::size_t leases) noexcept;
  /// It waits for the ledger or a disk now, which is no hang.
  void asks(bool waits) noexcept;

 private:
  struct WorkerPage* const page_;
  std::size_t held_ = 0;
  bool asks_ = false;
};

}  // namespace penstock
