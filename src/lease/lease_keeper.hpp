// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "penstock/lease/lease_source.hpp"
#include "penstock/lease/ledger.hpp"
#include "penstock/lease/workers.hpp"

namespace penstock {

/// The leases of one owner: those that wait, and what is to be said of others. Its thread exchanges them with the
/// ledger.
///
/// Threads: any.
class LeaseKeeper {
 public:
  /// Throws: as Ledger::join; Error of kind system, if there is no thread.
  LeaseKeeper(Ledger& ledger, LeaseSourceOptions const& options);
  /// Throws: Error of kind system, if there is no thread.
  LeaseKeeper(std::unique_ptr<LeaseSupply> supply, LeaseSourceOptions const& options);
  LeaseKeeper(LeaseKeeper const&) = delete;
  LeaseKeeper& operator=(LeaseKeeper const&) = delete;
  ~LeaseKeeper();

  /// A lease; nothing at the end. A later try of a lease comes only once `settle` was called for the one before, so
  /// that no two tries of one lease are on the way.
  ///
  /// Blocks: until there is one, or none will come.
  /// Throws: Error, if the ledger cannot be used.
  std::optional<Lease> next();
  /// True if `next` would return at once.
  bool is_ready() const;
  /// Says what became of a lease, and that no part of this try is on the way any more. The ledger is told nothing of a
  /// try that is settled already, or was lost.
  void settle(Settlement settlement);
  /// False if this try is settled, or the ledger is known to have handed out a later one.
  bool holds(Lease const& lease) const;
  /// A part of a lease was done, which Workers take for progress.
  void moved() noexcept { report_.moved(); }
  /// Takes no more leases.
  void stop_taking() noexcept;
  /// Settles what is left, and gives back the rest.
  ///
  /// Blocks, throws: as LeaseSource::finish.
  void finish();
  LeaseCounts counts() const;
  /// The first reason for which a settlement was refused; empty if none was.
  std::string refusal() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  void work();
  bool is_held(std::uint64_t number, std::uint32_t tries) const;
  void keep(std::vector<Settlement> const& settled, Exchange& result, std::size_t wanted);
  void keep(Lease lease);
  void give_back_the_rest();
  bool has_next() const noexcept;
  bool wants_leases() const noexcept;
  bool gives_up() const noexcept;
  bool is_due(Time now) const noexcept;
  std::optional<Time> next_time() const noexcept;
  void exchange(std::unique_lock<std::mutex>& lock);
  void note(std::vector<Settlement> const& settled, Exchange& result);

  std::size_t const leases_;
  std::chrono::milliseconds const poll_, silence_;
  std::stop_token const stop_;
  std::mutex mutable mutex_;
  std::condition_variable_any changed_;  ///< For the thread.
  std::condition_variable_any arrived_;  ///< For `next`.
  WorkerReport report_;                  ///< Under the mutex, but for `moved`.
  std::unique_ptr<LeaseSupply> owner_;
  std::deque<Lease> waiting_;                         ///< Taken, and not yet passed on.
  std::map<std::uint64_t, std::uint32_t> out_;        ///< Tries of leases that were taken, and not settled.
  std::map<std::uint64_t, std::uint32_t> passed_on_;  ///< Tries that `next` returned, and `settle` did not get.
  std::map<std::uint64_t, Lease> later_tries_;        ///< Taken while an earlier try is passed on.
  std::vector<Settlement> settled_;                   ///< To be told to the ledger.
  /// `next` was called. A process that runs a lost device's tiles again ends before that, and would be blamed for
  /// leases.
  bool asked_ = false;
  bool finished_ = false;               ///< The ledger has no more.
  bool stopped_ = false;                ///< No more are to be taken.
  bool ending_ = false;                 ///< `finish` waits for the thread.
  Time not_before_ = {};                ///< The ledger had nothing, and is not asked before.
  std::chrono::milliseconds pause_{0};  ///< Not 0: the ledger cannot be written for now.
  Time retry_at_ = {};                  ///< Then it is tried again.
  Time unsaid_since_ = {};              ///< When the first of `settled_` was settled.
  Time heard_ = {};                     ///< When the ledger was asked last.
  std::exception_ptr problem_;
  LeaseCounts counts_;
  std::string refusal_;
  std::jthread thread_;
};

}  // namespace penstock
