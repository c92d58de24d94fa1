// SPDX-License-Identifier: Apache-2.0
// What processes of a simulated run take and settle.
#include <algorithm>
#include <string>
#include <utility>

#include "lease/simulation/ledger_run.hpp"

namespace penstock::simulation {
namespace {

using Kind = Settlement::Kind;

/// What comes of a lease: most are answered, some fail each time, and some kill the process that works on them.
enum class Nature : std::uint8_t { fine, faulty, deadly };

Nature nature_of(std::string const& payload) {
  auto const number = chaos::Draw(std::stoull(payload)).below(8);
  return number == 0 ? Nature::deadly : number == 1 ? Nature::faulty : Nature::fine;
}

}  // namespace

std::vector<Settlement> LedgerRun::choose(Process& process) {
  std::vector<Settlement> settlements;
  for (Held const& held : process.held) {
    if (faults_ && draw_.one_in(3)) continue;
    Nature const nature = nature_of(held.lease.work.payload);
    Kind kind = nature == Nature::fine ? Kind::acknowledge : Kind::fail;
    if (faults_ && draw_.one_in(8)) kind = Kind::give_back;
    if (nature == Nature::deadly) kind = Kind::suspect;
    if (nature == Nature::faulty && draw_.one_in(6)) kind = Kind::park;
    std::string text = std::to_string(held.lease.number) + "/" + std::to_string(held.lease.tries);
    settlements.push_back(
        {.kind = kind, .number = held.lease.number, .tries = held.lease.tries, .text = std::move(text)});
  }
  return settlements;
}

void LedgerRun::exchange(Process& process) {
  // A deadly lease kills its process before anything of it can be settled; or, sometimes, its device.
  bool const doomed = std::ranges::any_of(process.held, [](Held const& held) {
    return !held.settled && nature_of(held.lease.work.payload) == Nature::deadly;
  });
  if (doomed && !draw_.one_in(4)) {
    disk_.spare();
    note(process, "killed by a lease");
    kill(process);
    return;
  }
  settle(process, choose(process), draw_.below(6));
}

void LedgerRun::settle(Process& process, std::vector<Settlement> const& settlements, std::size_t most) {
  Exchange result;
  auto held_before = process.held;
  auto const held_of = [&](Settlement const& one) {
    return std::ranges::find_if(process.held, [&](Held const& held) {
      return held.lease.number == one.number && held.lease.tries == one.tries;
    });
  };
  for (Settlement const& one : settlements) held_of(one)->unsure = true;
  auto const outcome = attempt(process, "exchange", [&] { result = process.owner->exchange(settlements, most); });
  if (outcome == Outcome::done || outcome == Outcome::nothing) process.held = held_before;
  if (outcome == Outcome::nothing) return;
  if (outcome != Outcome::done) {
    for (Settlement const& one : settlements) {
      auto const held = std::ranges::find_if(held_before, [&](Held const& before) {
        return before.lease.number == one.number && before.lease.tries == one.tries;
      });
      truth_.maybe_settled(*held, one);
    }
    if (most != 0) truth_.maybe_handed_out();
    let_silent_go(process, false);
    return;
  }
  std::vector<bool> refused(settlements.size());
  for (RefusedSettlement const& one : result.refused) {
    refused[one.index] = true;
    truth_.expect(one.reason.ends_with("."), "a refusal is no sentence");
  }
  for (std::size_t k = 0; k < settlements.size(); ++k) {
    auto const held = held_of(settlements[k]);
    truth_.settled(*held, settlements[k], !refused[k], now_);
    // Sometimes it says so once more, as if its message were lost.
    held->settled = true;
    if (!draw_.one_in(6)) process.held.erase(held);
  }
  let_silent_go(process, true);
  truth_.handed_out(result.taken, process.held, held_by_others(process), now_);
  if (result.finished) truth_.finished(held_by_others(process));
  process.heard = now_;
  for (Lease& lease : result.taken) process.held.push_back({.lease = std::move(lease)});
}

std::vector<Held> LedgerRun::held_by_others(Process const& process) const {
  std::vector<Held> all;
  for (Process const& other : processes_)
    if (&other != &process) all.insert(all.end(), other.held.begin(), other.held.end());
  return all;
}

void LedgerRun::let_silent_go(Process const& process, bool certain) {
  for (Process& other : processes_) {
    if (&other == &process || other.silence.count() == 0 || now_ - other.heard <= other.silence) continue;
    truth_.owner_gone(other.held, certain);
    for (Held& held : other.held) {
      held.lost = held.lost || certain;
      held.unsure = held.unsure || !certain;
    }
  }
}

}  // namespace penstock::simulation
