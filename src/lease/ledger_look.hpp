// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// Looks at a ledger once a second, and at once when a process has ended: then it makes ready what that had out.
///
/// A thread of its own does so, "ps-ledger", as a process that is stopped in its turn lets all others wait.
///
/// Threads: any.
class LedgerLook {
 public:
  /// What the last look came to.
  struct Seen {
    std::uint64_t asked = 0;  ///< Calls of `ask` before the last look that the ledger took.
    std::optional<LedgerProgress> progress = {};
    double leases_per_second = 0;
    std::exception_ptr problem = {};  ///< The ledger cannot be used. No look follows.
  };

  /// `looked` is called after each look, by that thread.
  ///
  /// Throws: Error of kind system, if there is no thread.
  LedgerLook(Ledger& ledger, std::function<void()> looked);
  LedgerLook(LedgerLook const&) = delete;
  LedgerLook& operator=(LedgerLook const&) = delete;
  /// Blocks: until the look that goes on is over.
  ~LedgerLook();

  /// A process has ended. Returns: the number of this call.
  std::uint64_t ask();
  Seen seen() const;
  /// True if the ledger was finished when it was looked at last.
  bool is_finished() const;

 private:
  void work(std::stop_token const& stop);
  void look(bool ended, std::uint64_t asked);

  Ledger& ledger_;
  std::function<void()> const looked_;
  std::mutex mutable mutex_;
  std::condition_variable_any asked_for_;
  std::uint64_t asked_ = 0;
  Seen seen_;
  std::optional<LedgerProgress> counted_from_;  ///< For the rate.
  std::jthread thread_;
};

}  // namespace penstock
