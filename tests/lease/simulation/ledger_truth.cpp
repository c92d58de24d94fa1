// SPDX-License-Identifier: Apache-2.0
#include "lease/simulation/ledger_truth.hpp"

#include <algorithm>

namespace penstock::simulation {
namespace {

using Kind = Settlement::Kind;

/// Time for which a lease rests after that many tries that failed: 50 ms, twice as long each time, at most 5 s.
std::chrono::nanoseconds rest_of(std::int64_t charged) {
  std::chrono::nanoseconds rest = std::chrono::milliseconds(50);
  for (std::int64_t k = 1; k < charged; ++k)
    rest = std::min<std::chrono::nanoseconds>(2 * rest, std::chrono::seconds(5));
  return rest;
}

}  // namespace

void LedgerTruth::expect(bool right, std::string_view finding, std::uint64_t lease) {
  if (right) return;
  std::string sentence(finding);
  if (lease != 0) sentence += " (lease " + std::to_string(lease) + ")";
  findings_.push_back(std::move(sentence));
}

LedgerTruth::Known& LedgerTruth::of(std::uint64_t number) {
  static Known none;
  bool const there = number >= 1 && number <= leases_.size();
  expect(there, "a lease that nobody enqueued", number);
  return there ? leases_[number - 1] : none = {};
}

void LedgerTruth::enqueued(std::size_t count, bool last, bool certain) {
  if (certain) {
    expect(!closed_, "a closed ledger took more leases");
    // What may have been there before is before these.
    leases_.resize(leases_.size() + count);
    certain_leases_ += count;
    closed_ = closed_ || last;
  } else {
    leases_.resize(leases_.size() + count);
  }
  maybe_closed_ = maybe_closed_ || last;
}

void LedgerTruth::settled(Held const& held, Settlement const& settlement, bool accepted, std::chrono::nanoseconds now) {
  std::uint64_t const number = settlement.number;
  Known& known = of(number);
  if (!accepted) {
    expect(!held.certain(), "an owner that had a lease could not settle it", number);
    return;
  }
  expect(!held.settled, "a lease was settled twice by one try", number);
  expect(!held.lost, "an owner settled a lease that it had lost", number);
  expect(settlement.tries == known.last_try, "a try that was over settled a lease", number);
  expect(!known.answer, "a lease was settled after it was answered", number);
  switch (settlement.kind) {
    case Kind::acknowledge:
      known.answer = settlement.text;
      break;
    case Kind::give_back:
      --known.charged_least, --known.charged_most;
      break;
    case Kind::suspect:
    case Kind::fail:
      if (settlement.kind == Kind::suspect) known.maybe_suspect = known.suspect = true;
      if (settlement.kind == Kind::fail) known.not_before = now + rest_of(known.charged_least);
      if (known.charged_least >= most_tries) known.parked = known.maybe_parked = true;
      break;
    case Kind::park:
      known.parked = known.maybe_parked = true;
      break;
  }
}

void LedgerTruth::maybe_settled(Held const& held, Settlement const& settlement) {
  if (held.lost || held.settled) return;
  Known& known = of(settlement.number);
  known.maybe_suspect = true;
  known.suspect = false;
  if (settlement.kind == Kind::acknowledge) known.maybe_answers.insert(settlement.text);
  if (settlement.kind == Kind::give_back) --known.charged_least;
  if (settlement.kind == Kind::park) known.maybe_parked = true;
}

void LedgerTruth::expect_right_hand_out(Lease const& lease, Known const& known, std::span<Held const> elsewhere,
                                        std::chrono::nanoseconds now) {
  std::uint64_t const number = lease.number;
  expect(!known.answer, "a lease was handed out after it was answered", number);
  expect(!known.parked, "a lease was handed out while it was parked", number);
  expect(lease.tries > known.last_try, "two tries of a lease have one number", number);
  expect(lease.charged > known.charged_least && lease.charged <= known.charged_most + 1,
         "a try was charged that does not count, or not charged though it counts", number);
  expect(lease.suspect || !known.suspect, "a lease whose owner ended is no suspect", number);
  expect(!lease.suspect || known.maybe_suspect, "a lease is a suspect for nothing", number);
  expect(now >= known.not_before, "a lease that failed did not rest", number);
  expect(known.payload.empty() || known.payload == lease.work.payload, "a lease has the work of another", number);
  for (Held const& held : elsewhere)
    expect(held.lease.number != number || !held.certain(), "two owners have one lease", number);
}

void LedgerTruth::handed_out(std::span<Lease const> taken, std::span<Held const> others,
                             std::span<Held const> elsewhere, std::chrono::nanoseconds now) {
  bool const has_some = std::ranges::any_of(others, &Held::certain);
  bool const has_suspect =
      std::ranges::any_of(others, [](Held const& held) { return held.certain() && held.lease.suspect; });
  for (Lease const& lease : taken) {
    Known& known = of(lease.number);
    expect_right_hand_out(lease, known, elsewhere, now);
    expect(!lease.suspect || (taken.size() == 1 && !has_some), "a suspect did not go alone", lease.number);
    expect(!has_suspect, "a lease went to an owner that has a suspect", lease.number);
    known.payload = lease.work.payload;
    known.last_try = lease.tries;
    known.charged_least = known.charged_most = lease.charged;
    known.suspect = known.maybe_suspect = lease.suspect;
    known.maybe_answers.clear();
    known.maybe_parked = false;
  }
}

void LedgerTruth::maybe_handed_out() {
  for (Known& known : leases_) {
    ++known.charged_most;
    known.maybe_suspect = true;
  }
}

void LedgerTruth::owner_gone(std::span<Held const> held, bool certain) {
  auto const count = std::ranges::count_if(held, &Held::certain);
  for (Held const& one : held) {
    if (one.lost || one.settled) continue;
    Known& known = of(one.lease.number);
    known.maybe_suspect = true;
    if (!certain || one.unsure) continue;
    known.suspect = true;
    if (count > 1) ++known.deaths_in_batches;
    expect(known.deaths_in_batches <= 1, "a lease was in a batch again after the death of an owner", one.lease.number);
  }
}

void LedgerTruth::left(std::span<Held const> held, bool certain) {
  for (Held const& one : held) {
    if (one.lost || one.settled) continue;
    Known& known = of(one.lease.number);
    --known.charged_least;
    if (certain && !one.unsure) {
      --known.charged_most;
    } else {
      known.maybe_suspect = true;
      known.suspect = false;
    }
  }
}

void LedgerTruth::unparked(std::uint64_t number, bool done) {
  Known& known = of(number);
  if (!done) {
    expect(!known.parked, "a parked lease could not be made ready", number);
    return;
  }
  expect(known.maybe_parked || known.charged_most >= most_tries, "a lease was unparked that was not parked", number);
  known = {.payload = known.payload, .last_try = known.last_try, .maybe_answers = known.maybe_answers};
}

void LedgerTruth::maybe_unparked(std::uint64_t number) {
  Known& known = of(number);
  if (!known.maybe_parked && known.charged_most < most_tries) return;
  known.charged_least = 0;
  known.parked = known.suspect = false;
  known.maybe_parked = known.maybe_suspect = true;
  known.deaths_in_batches = 0;
  known.not_before = {};
}

void LedgerTruth::finished(std::span<Held const> elsewhere) {
  expect(maybe_closed_, "a ledger that is open is finished");
  for (std::size_t k = 0; k < certain_leases_; ++k)
    expect(maybe_over(leases_[k]), "a ledger is finished that has work", k + 1);
  for (Held const& held : elsewhere)
    expect(!held.certain() || maybe_over(of(held.lease.number)), "a ledger is finished while a lease is out",
           held.lease.number);
}

void LedgerTruth::started_again() {
  for (Known& known : leases_) known.not_before = {};
}

void LedgerTruth::ended(LedgerProgress const& progress, std::vector<LeaseAnswer> const& answers,
                        std::vector<ParkedLease> const& parked) {
  expect(progress.leases >= certain_leases_ && progress.leases <= leases_.size(), "leases are missing, or too many");
  expect(progress.done == answers.size() && progress.parked == parked.size() && progress.out == 0 &&
             progress.ready == 0 && progress.done + progress.parked == progress.leases,
         "the counts of the ledger are wrong");
  std::set<std::uint64_t> over;
  for (auto const& [number, answer] : answers) {
    Known const& known = of(number);
    expect(over.insert(number).second, "a lease was answered twice", number);
    expect(known.answer ? *known.answer == answer : known.maybe_answers.contains(answer),
           "a lease has another answer than was acknowledged", number);
  }
  for (ParkedLease const& lease : parked) {
    Known const& known = of(lease.number);
    expect(over.insert(lease.number).second, "a lease is answered and parked", lease.number);
    expect(known.maybe_parked || known.charged_most >= most_tries, "a lease was parked too early", lease.number);
    expect(!lease.reason.empty(), "a lease was parked without a reason", lease.number);
  }
  for (std::size_t k = 0; k < leases_.size(); ++k) {
    expect(!leases_[k].answer || over.contains(k + 1), "an answer is lost", k + 1);
    expect(!leases_[k].parked || std::ranges::any_of(parked, [&](auto const& one) { return one.number == k + 1; }),
           "a parked lease is lost", k + 1);
  }
}

}  // namespace penstock::simulation
