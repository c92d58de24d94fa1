// SPDX-License-Identifier: Apache-2.0
// The ledgers that the contract is held on in a process of its own: each is one in PostgreSQL.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "lease/a_ledger.hpp"
#include "lease/ledger_world.hpp"
#include "lease/postgres_server.hpp"
#include "lease/worker_process.hpp"
#include <gtest/gtest.h>

#include "penstock/lease/postgres_ledger.hpp"

namespace penstock::support {
namespace {

/// Where no server can be run, all tests of one are skipped, with the words by which CTest knows that.
struct NeedsAServer : testing::Environment {
  void SetUp() override {
    if (PostgresServer::can_be_run()) return;
    std::puts(
        "[  PASSED  ] 0 tests.\n[  SKIPPED ] 1 test, listed below:\n"
        "[  SKIPPED ] PostgreSQL does not run as root, and this process cannot become postgres or nobody");
    std::exit(0);
  }
};
[[maybe_unused]] testing::Environment* const needs_a_server = testing::AddGlobalTestEnvironment(new NeedsAServer);

class DoomedSession final : public DoomedOwner {
 public:
  explicit DoomedSession(std::string const& ledger) : process_({ledger}) { process_.ask("take 0"); }
  std::vector<std::uint64_t> take(std::size_t most) override {
    return numbers_in(process_.ask("take " + std::to_string(most)));
  }
  void die() override {
    std::string const name = "penstock lease " + std::to_string(process_.id());
    process_.kill(SIGKILL);
    // The server has dropped a session's locks before it forgets the session.
    shared_postgres_server().await_none("select count(*) from pg_stat_activity where application_name = '" + name +
                                        "'");
  }

 private:
  WorkerProcess process_;
};

class PostgresWorld final : public LedgerWorld {
 public:
  PostgresWorld()
      : address_(shared_postgres_server().address("world" + std::to_string(++worlds))),
        ledger_(address_, {.most_tries = most_tries, .clock = [this] { return now_.load(); }}) {}

  Ledger& ledger() override { return ledger_; }
  std::unique_ptr<DoomedOwner> doomed_owner() override { return std::make_unique<DoomedSession>(address_); }
  void let_pass(std::chrono::milliseconds time) override { now_ = now_.load() + time; }

 private:
  static inline int worlds = 0;
  std::string const address_;
  std::atomic<std::chrono::nanoseconds> now_{std::chrono::hours(1)};
  PostgresLedger ledger_;
};

std::unique_ptr<LedgerWorld> make_postgres_world() {
  return std::make_unique<PostgresWorld>();
}

INSTANTIATE_TEST_SUITE_P(, ALedger, testing::Values(LedgerUnderTest{"Postgres", make_postgres_world}),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace penstock::support
