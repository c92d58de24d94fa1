// SPDX-License-Identifier: Apache-2.0
// supervised_worker LEDGER AT_ONCE   a worker: it takes that many leases at once until the ledger is finished, does
// what
//                                    their payloads say, and answers "of PAYLOAD". It prints "took NUMBER TRIES
//                                    PROCESS" for each. SIGTERM makes it give back what it has, and end with 130.
//
// "kill", "hang", "exit CODE"   it does that
// "lose"                        it loses its device: the lease is a suspect, and it ends with 4
// "stop in turn"                it stops itself in its turn, for which all others wait
// "wait PIPE"                   it waits until there is something to read from the named pipe, and leaves it there
// "move PIPE"                   it says without end that it moves, until then
// "first ..."                   the same at the first try alone
// others                        nothing
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lease/ledger_place.hpp"
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "penstock/lease/workers.hpp"

namespace penstock {
namespace {

volatile std::sig_atomic_t asked_to_end = 0;

/// Waits until something is there to read, for that long, 0 for ever. SIGTERM is taken meanwhile, and only then.
///
/// Returns: whether there is something.
bool look_at(int descriptor, int milliseconds) {
  sigset_t none;
  sigemptyset(&none);
  timespec const time{.tv_sec = 0, .tv_nsec = milliseconds * 1'000'000L};
  pollfd waited{descriptor, POLLIN, 0};
  return ppoll(&waited, 1, milliseconds != 0 ? &time : nullptr, &none) > 0;
}

/// False if it was asked to end.
bool await(std::string const& pipe, WorkerReport* moves) {
  Descriptor const gate(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  while (!look_at(gate.number, moves != nullptr ? 1 : 0)) {
    if (asked_to_end != 0) return false;
    if (moves != nullptr) moves->moved();
  }
  return true;
}

/// False if it was asked to end.
bool obey(std::string order, Lease const& lease, LeaseOwner& owner, WorkerReport& report, char const* ledger) {
  if (order.starts_with("first ")) {
    if (lease.tries > 1) return true;
    order.erase(0, 6);
  }
  if (order == "kill") kill(getpid(), SIGKILL);
  while (order == "hang") poll(nullptr, 0, -1);
  if (order.starts_with("exit ")) std::_Exit(std::stoi(order.substr(5)));
  if (order == "lose") {
    Settlement const lost{
        .kind = Settlement::Kind::suspect, .number = lease.number, .tries = lease.tries, .text = "at work: lost"};
    owner.exchange({&lost, 1}, 0);
    std::_Exit(4);
  }
  if (order == "stop in turn") {
    LedgerPlace const place(ledger);
    LedgerTurn const turn(place);
    raise(SIGSTOP);
  }
  if (order.starts_with("wait ")) return await(order.substr(5), nullptr);
  if (order.starts_with("move ")) return await(order.substr(5), &report);
  return true;
}

int work(char const* name, std::size_t at_once) {
  SqliteLedger ledger(name, {.opening = LedgerOpening::existing});
  auto const owner = ledger.join();
  WorkerReport report;
  std::vector<Settlement> answers;
  for (;;) {
    report.asks(true);
    Exchange const result = owner->exchange(answers, at_once);
    report.holds(result.taken.size());
    report.asks(false);
    for (std::size_t k = 0; k < answers.size(); ++k) report.answered();
    answers.clear();
    if (result.finished) return 0;
    if (result.taken.empty()) look_at(-1, 10);
    if (asked_to_end != 0) return 130;
    for (Lease const& lease : result.taken) {
      std::printf("took %lu %u %d\n", static_cast<unsigned long>(lease.number), lease.tries, getpid());
      std::fflush(stdout);
      if (!obey(lease.work.payload, lease, *owner, report, name)) return 130;
      report.moved();
      answers.push_back({.number = lease.number, .tries = lease.tries, .text = "of " + lease.work.payload});
    }
  }
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  if (count < 3) return 2;
  struct sigaction end {};
  end.sa_handler = [](int) { penstock::asked_to_end = 1; };
  sigaction(SIGTERM, &end, nullptr);
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  sigprocmask(SIG_BLOCK, &held, nullptr);
  try {
    return penstock::work(words[1], std::stoul(words[2]));
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 4;
  }
}
