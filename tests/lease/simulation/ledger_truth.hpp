// SPDX-License-Identifier: Apache-2.0
// What must be true of a ledger, by what its calls returned to those that made them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/lease/ledger.hpp"

namespace penstock::simulation {

/// A lease that a process believes to have.
struct Held {
  Lease lease = {};
  bool lost = false;     ///< Others may have it by now, as its owner was silent.
  bool unsure = false;   ///< A call that failed may have settled it, or made it another's.
  bool settled = false;  ///< What follows is a message that comes twice.

  bool certain() const noexcept { return !lost && !unsure && !settled; }
};

/// All that is known of the leases of one ledger. Where a call failed in the middle it allows for both: that all of the
/// call happened, or nothing.
///
/// Threads: one.
class LedgerTruth {
 public:
  static constexpr std::uint32_t most_tries = 3;

  /// What was found to be wrong, a sentence each.
  std::vector<std::string> const& findings() const noexcept { return findings_; }
  void expect(bool right, std::string_view finding, std::uint64_t lease = 0);

  std::size_t leases() const noexcept { return leases_.size(); }
  bool maybe_closed() const noexcept { return maybe_closed_; }
  void enqueued(std::size_t count, bool last, bool certain);
  void not_enqueued() { expect(maybe_closed_, "a ledger that is open took no more leases"); }

  /// A settlement was accepted, or refused.
  void settled(Held const& held, Settlement const& settlement, bool accepted, std::chrono::nanoseconds now);
  /// A settlement may have been accepted by a call that failed.
  void maybe_settled(Held const& held, Settlement const& settlement);
  /// Leases were handed out to an owner that has `others`, while other owners that live have `elsewhere`.
  void handed_out(std::span<Lease const> taken, std::span<Held const> others, std::span<Held const> elsewhere,
                  std::chrono::nanoseconds now);
  /// A call that failed may have handed out any lease.
  void maybe_handed_out();
  /// Its owner ended, or was silent for too long.
  void owner_gone(std::span<Held const> held, bool certain);
  /// Its owner left and gave back what it had, or may have done so.
  void left(std::span<Held const> held, bool certain);
  void unparked(std::uint64_t number, bool done);
  void maybe_unparked(std::uint64_t number);
  /// An exchange said that all is done, while other owners that live have `elsewhere`.
  void finished(std::span<Held const> elsewhere);
  /// The machine was started again: rests are over, or begin anew.
  void started_again();
  /// The end: each lease is answered as it was acknowledged, or parked for a reason.
  void ended(LedgerProgress const& progress, std::vector<LeaseAnswer> const& answers,
             std::vector<ParkedLease> const& parked);

 private:
  struct Known {
    std::string payload = {};  ///< Empty until it was seen.
    std::uint32_t last_try = 0;
    std::int64_t charged_least = 0;  ///< Bounds of the tries that count.
    std::int64_t charged_most = 0;
    std::optional<std::string> answer = {};  ///< It was acknowledged for certain.
    std::set<std::string> maybe_answers = {};
    bool parked = false;  ///< For certain.
    bool maybe_parked = false;
    bool suspect = false;  ///< For certain.
    bool maybe_suspect = false;
    unsigned deaths_in_batches = 0;
    std::chrono::nanoseconds not_before{0};
  };

  Known& of(std::uint64_t number);
  void expect_right_hand_out(Lease const& lease, Known const& known, std::span<Held const> elsewhere,
                             std::chrono::nanoseconds now);
  bool maybe_over(Known const& known) const {
    return known.answer || !known.maybe_answers.empty() || known.maybe_parked || known.charged_most >= most_tries;
  }

  std::vector<Known> leases_;
  std::size_t certain_leases_ = 0;
  bool closed_ = false;
  bool maybe_closed_ = false;
  std::vector<std::string> findings_;
};

}  // namespace penstock::simulation
