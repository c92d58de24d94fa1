// SPDX-License-Identifier: Apache-2.0
// lease_worker LEDGER [silence MS]      does what standard input says, a line each, and prints a line for each:
//                                       "take N", "acknowledge", "leave"
// lease_worker LEDGER work LOG [STEP]   works until the ledger is finished. The work of a lease appends its number
//                                       to LOG. A lease with the payload "kill" kills the process; so does the STEPth
//                                       step, of which each lease, each exchange and each write of SQLite is one, and
//                                       each message to PostgreSQL, and each part of an answer.
//
// The answer to a payload is "of PAYLOAD".

// With _FORTIFY_SOURCE glibc's header defines recv; this file has its own.
#undef _FORTIFY_SOURCE
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "lease/until_there.hpp"
#include <fcntl.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/lease/open_ledger.hpp"

namespace penstock {
namespace {

std::uint64_t steps_left = 0;

void step() {
  if (steps_left != 0 && --steps_left == 0) kill(getpid(), SIGKILL);
}

ssize_t write_as_a_step(int file, void const* bytes, size_t count, off64_t at) {
  step();
  return pwrite64(file, bytes, count, at);
}

void count_writes() {
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  // Whichever of the two it calls.
  for (char const* const name : {"pwrite", "pwrite64"})
    system->xSetSystemCall(system, name, reinterpret_cast<sqlite3_syscall_ptr>(write_as_a_step));
}

std::vector<Settlement> answers_to(std::vector<Lease> const& leases) {
  std::vector<Settlement> answers;
  for (Lease const& lease : leases)
    answers.push_back({.number = lease.number, .tries = lease.tries, .text = "of " + lease.work.payload});
  return answers;
}

int obey(Ledger& ledger, std::chrono::milliseconds silence) {
  auto owner = until_there([&] { return ledger.join({.silence = silence}); });
  std::vector<Lease> held;
  for (std::string line; std::getline(std::cin, line);) {
    Exchange result;
    if (line.starts_with("take ")) {
      result = until_there([&] { return owner->exchange({}, std::stoul(line.substr(5))); });
    } else if (line == "acknowledge") {
      result = until_there([&] { return owner->exchange(answers_to(held), 0); });
      held.clear();
    } else {
      owner.reset();
    }
    std::string said = result.refused.empty() ? "taken" : "refused";
    for (RefusedSettlement const& one : result.refused) said += " " + std::to_string(one.index);
    for (Lease const& lease : result.taken) {
      said += " " + std::to_string(lease.number);
      held.push_back(lease);
    }
    std::cout << said << std::endl;
    if (owner == nullptr) return 0;
  }
  return 0;
}

int work(Ledger& ledger, char const* log_name) {
  Descriptor const log(open(log_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  auto const owner = until_there([&] { return ledger.join(); });
  std::vector<Settlement> answers;
  for (;;) {
    Exchange const result = until_there([&] { return owner->exchange(answers, 16); });
    if (!result.refused.empty()) return 3;
    if (result.finished) return 0;
    step();
    // Others have all that is left: the processes that may yet end decide when to ask again.
    if (result.taken.empty() && answers.empty()) poll(nullptr, 0, 10);
    for (Lease const& lease : result.taken) {
      step();
      if (lease.work.payload == "kill") kill(getpid(), SIGKILL);
      std::string const line = std::to_string(lease.number) + "\n";
      if (write(log.number, line.data(), line.size()) < 0) return 4;
    }
    answers = answers_to(result.taken);
  }
}

}  // namespace
}  // namespace penstock

// Those that libpq calls.
extern "C" [[gnu::visibility("default")]] ssize_t send(int to, void const* bytes, size_t count, int flags) {
  penstock::step();
  return sendto(to, bytes, count, flags, nullptr, 0);
}
extern "C" [[gnu::visibility("default")]] ssize_t recv(int from, void* bytes, size_t count, int flags) {
  penstock::step();
  return recvfrom(from, bytes, count, flags, nullptr, nullptr);
}

int main(int count, char** words) {
  std::string const mode = count > 2 ? words[2] : "";
  if (count > 4) {
    penstock::steps_left = std::stoul(words[4]);
    penstock::count_writes();
  }
  try {
    auto const ledger = penstock::until_there(
        [&] { return penstock::open_ledger(words[1], {.opening = penstock::LedgerOpening::existing}); });
    if (mode == "work") return penstock::work(*ledger, words[3]);
    return penstock::obey(*ledger, std::chrono::milliseconds(mode == "silence" ? std::stoul(words[3]) : 0));
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "lease_worker: %s\n", failure.what());
    return 2;
  }
}
