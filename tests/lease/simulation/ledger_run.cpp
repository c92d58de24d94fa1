// SPDX-License-Identifier: Apache-2.0
#include "lease/simulation/ledger_run.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <utility>

#include "penstock/error.hpp"

namespace penstock::simulation {
namespace {

/// Messages of destructors, which cannot throw.
std::uint64_t messages = 0;

void count_message(std::string_view) noexcept {
  ++messages;
}

}  // namespace

LedgerRun::LedgerRun(std::uint64_t seed, std::string const& folder, bool trace)
    : seed_(seed),
      folder_(folder),
      trace_(trace),
      draw_(seed),
      disk_(FailingDisk::instance()),
      forgets_(draw_.one_in(3)),
      lies_(forgets_ && draw_.one_in(8)) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  disk_.begin(draw_.next(), forgets_);
  if (lies_) disk_.lie();
  set_message_hook(count_message);
}

LedgerRun::~LedgerRun() {
  for (Process& process : processes_) kill(process);
}

void LedgerRun::note(Process const& process, std::string const& what) {
  if (trace_)
    std::printf("%12.3f s  process %td: %s\n", std::chrono::duration<double>(now_).count(),
                &process - processes_.data(), what.c_str());
}

std::vector<std::string> const& LedgerRun::run() {
  try {
    for (std::uint64_t steps = draw_.between(10, 50); steps-- != 0 && truth_.findings().empty();) step();
    finish();
  } catch (Error const& error) {
    // A disk that lies may damage the ledger, or take it back. That is said, and nothing is promised of it.
    truth_.expect(lies_, error.what());
  }
  static std::vector<std::string> const none;
  return lies_ ? none : truth_.findings();
}

LedgerRun::Outcome LedgerRun::attempt(Process& process, char const* what, std::function<void()> const& call) {
  Outcome outcome = Outcome::done;
  try {
    call();
  } catch (LedgerUnavailable const&) {
    truth_.expect(disk_.full() || disk_.struck(), std::string(what) + ": no room where there was room");
    outcome = disk_.struck() ? Outcome::unsure : Outcome::nothing;
  } catch (Error const& error) {
    if (!disk_.struck()) throw;
    outcome = Outcome::unsure;
  }
  if (disk_.spare()) {
    bury(process);
    outcome = Outcome::killed;
  }
  constexpr std::array names{"done", "nothing was changed", "failed", "killed in it"};
  note(process, std::string(what) + ": " + names[static_cast<std::size_t>(outcome)]);
  return outcome;
}

void LedgerRun::strike_sometimes() {
  if (!faults_ || !draw_.one_in(8)) return;
  disk_.strike(draw_.one_in(3) ? FailingDisk::Fate::refuse : FailingDisk::Fate::kill, draw_.below(10));
}

void LedgerRun::step() {
  Process& process = processes_[draw_.below(processes_.size())];
  if (process.wakes > now_) {
    now_ += std::chrono::milliseconds(draw_.below(500));
    return;
  }
  if (disk_.full() && draw_.one_in(5)) disk_.fill(false);
  strike_sometimes();
  std::uint64_t const what = draw_.below(100);
  if (process.owner == nullptr) {
    open(process);
  } else if (what < 55) {
    exchange(process);
  } else if (what < 62) {
    enqueue(process, draw_.one_in(6));
  } else if (what < 72) {
    now_ += std::chrono::milliseconds(draw_.of_any_size(15));
  } else if (what < 77) {
    note(process, "stopped");
    process.wakes = now_ + std::chrono::milliseconds(draw_.of_any_size(16));
  } else if (what < 82) {
    note(process, "killed");
    kill(process);
  } else if (what < 87) {
    leave(process);
  } else if (what < 91) {
    unpark(process);
  } else if (what < 95) {
    look(process);
  } else if (what < 98) {
    note(process, "the disk is full");
    disk_.fill(true);
  } else if (forgets_) {
    lose_power();
  }
  disk_.spare();
}

void LedgerRun::open(Process& process) {
  std::unique_ptr<SqliteLedger> ledger;
  std::unique_ptr<LeaseOwner> owner;
  auto const silence =
      draw_.one_in(3) ? std::chrono::milliseconds(draw_.between(100, 20000)) : std::chrono::milliseconds(0);
  auto const outcome = attempt(process, "open", [&] {
    ledger = std::make_unique<SqliteLedger>(folder_ + "/ledger", LedgerOptions{.purpose = "simulation",
                                                                               .most_tries = LedgerTruth::most_tries,
                                                                               .clock = [this] { return now_; }});
    owner = ledger->join({.silence = silence});
  });
  if (outcome != Outcome::done) {
    // It is dead for as long as it takes to end.
    disk_.kill();
    owner.reset();
    ledger.reset();
    disk_.bury();
    return;
  }
  process = {.ledger = std::move(ledger),
             .owner = std::move(owner),
             .silence = silence,
             .heard = now_,
             .wakes = {},
             .held = {}};
  if (truth_.leases() == 0) enqueue(process, false);
}

void LedgerRun::enqueue(Process& process, bool last) {
  std::vector<LeaseWork> work;
  for (std::uint64_t count = draw_.between(2, 8); count-- != 0;)
    work.push_back({.payload = std::to_string(chaos::Draw(seed_ + ++works_).next())});
  bool taken = false;
  auto const outcome = attempt(process, "enqueue", [&] { taken = process.ledger->enqueue(work, last); });
  if (outcome == Outcome::done && !taken) truth_.not_enqueued();
  if (outcome == Outcome::nothing || (outcome == Outcome::done && !taken)) return;
  truth_.enqueued(work.size(), last, outcome == Outcome::done);
}

void LedgerRun::unpark(Process& process) {
  if (truth_.leases() == 0) return;
  std::uint64_t const number = draw_.between(1, truth_.leases());
  bool done = false;
  auto const outcome = attempt(process, "unpark", [&] { done = process.ledger->unpark(number); });
  if (outcome == Outcome::done) truth_.unparked(number, done);
  if (outcome == Outcome::unsure || outcome == Outcome::killed) truth_.maybe_unparked(number);
}

void LedgerRun::look(Process& process) {
  LedgerProgress progress;
  auto const outcome = attempt(process, "look", [&] { progress = process.ledger->progress(); });
  if (outcome != Outcome::done) return;
  truth_.expect(progress.ready + progress.out + progress.done + progress.parked == progress.leases &&
                    progress.lost <= progress.out && progress.suspects <= progress.ready,
                "the counts of the ledger are wrong");
}

void LedgerRun::leave(Process& process) {
  auto const before = messages;
  auto const held = std::exchange(process.held, {});
  // Seen from outside it never fails.
  process.owner.reset();
  bool const whole = messages == before && !disk_.struck();
  process.ledger.reset();
  note(process, disk_.spare() ? "killed as it left" : "left");
  truth_.left(held, whole);
  if (!whole) truth_.owner_gone(held, false);
  bury(process);
}

void LedgerRun::kill(Process& process) {
  if (process.ledger == nullptr) return;
  disk_.kill();
  bury(process);
}

void LedgerRun::bury(Process& process) {
  disk_.kill();
  process.owner.reset();
  process.ledger.reset();
  truth_.owner_gone(process.held, true);
  process = {};
  disk_.bury();
}

void LedgerRun::lose_power() {
  note(processes_[0], "the power fails");
  disk_.spare();
  for (Process& process : processes_) kill(process);
  disk_.lose_power();
  std::filesystem::remove(folder_ + "/ledger-shm");
  disk_.fill(false);
  now_ = std::chrono::seconds(draw_.between(1, 100));
  truth_.started_again();
}

void LedgerRun::finish() {
  faults_ = false;
  disk_.spare();
  disk_.fill(false);
  for (Process& process : processes_) kill(process);
  Process& process = processes_[0];
  constexpr int most_steps = 1000;
  for (int steps = 0; truth_.findings().empty(); ++steps) {
    truth_.expect(steps < most_steps, "it does not end");
    if (process.owner == nullptr) {
      open(process);
      if (!truth_.maybe_closed() || steps == 0) enqueue(process, true);
      continue;
    }
    now_ += std::chrono::seconds(6);
    exchange(process);
    if (process.owner == nullptr || !process.held.empty()) continue;
    LedgerProgress const progress = process.ledger->progress();
    if (progress.finished()) return truth_.ended(progress, process.ledger->answers(), process.ledger->parked());
    truth_.expect(progress.lost == 0, "leases of an owner that ended were not handed out again");
  }
}

}  // namespace penstock::simulation
