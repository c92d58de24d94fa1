// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chaos/draw.hpp"
#include "lease/simulation/failing_disk.hpp"
#include "lease/simulation/ledger_truth.hpp"

#include "penstock/lease/sqlite_ledger.hpp"

namespace penstock::simulation {

/// Processes that work on one ledger, as a seed says: when each takes and settles leases, is killed, is stopped and
/// wakes, leaves; when the disk is full, refuses, or loses its power; how the clock goes. All in one thread and on the
/// ledger's own code. A process is one that has a connection and a lock of its own.
///
/// Threads: one.
class LedgerRun {
 public:
  /// Shape: `folder` is for this run alone. With `trace` each step is printed.
  LedgerRun(std::uint64_t seed, std::string const& folder, bool trace);
  LedgerRun(LedgerRun const&) = delete;
  LedgerRun& operator=(LedgerRun const&) = delete;
  ~LedgerRun();

  /// Runs it to its end. Returns what was found to be wrong, a sentence each.
  std::vector<std::string> const& run();

 private:
  struct Process {
    std::unique_ptr<SqliteLedger> ledger;
    std::unique_ptr<LeaseOwner> owner;
    std::chrono::nanoseconds silence{0};
    std::chrono::nanoseconds heard{0};
    std::chrono::nanoseconds wakes{0};  ///< Until then it is stopped.
    std::vector<Held> held;
  };
  enum class Outcome : std::uint8_t { done, nothing, unsure, killed };

  /// A call of a process that may fail, and how it ended. One that was killed is buried.
  Outcome attempt(Process& process, char const* what, std::function<void()> const& call);
  void step();
  void open(Process& process);
  void enqueue(Process& process, bool last);
  void exchange(Process& process);
  void settle(Process& process, std::vector<Settlement> const& settlements, std::size_t most);
  std::vector<Settlement> choose(Process& process);
  void unpark(Process& process);
  void look(Process& process);
  void leave(Process& process);
  void kill(Process& process);
  void lose_power();
  void finish();

  std::vector<Held> held_by_others(Process const& process) const;
  /// Other owners whose silence is over lose what they have, or may lose it.
  void let_silent_go(Process const& process, bool certain);
  void bury(Process& process);
  void strike_sometimes();
  void note(Process const& process, std::string const& what);

  std::uint64_t const seed_;
  std::string const folder_;
  bool const trace_;
  chaos::Draw draw_;
  FailingDisk& disk_;
  LedgerTruth truth_;
  std::array<Process, 3> processes_;
  std::chrono::nanoseconds now_{std::chrono::hours(1)};
  std::uint64_t works_ = 0;
  bool const forgets_;
  bool const lies_;
  bool faults_ = true;
};

}  // namespace penstock::simulation
