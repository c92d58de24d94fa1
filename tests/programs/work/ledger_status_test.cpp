// SPDX-License-Identifier: Apache-2.0
#include "programs/work/ledger_status.hpp"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "programs/work/work_metrics.hpp"

namespace penstock::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A ledger in the middle of its work: one of its processes has just ended, and a lease is parked.
struct AStatus : testing::Test {
  LedgerStatus status{.ledger = "run.ledger",
                      .progress = {.leases = 1000,
                                   .ready = 863,
                                   .out = 16,
                                   .done = 120,
                                   .parked = 1,
                                   .lost = 4,
                                   .owners = 4,
                                   .retries = 5,
                                   .closed = true,
                                   .oldest_out = std::chrono::milliseconds(2100),
                                   .oldest_ready = std::chrono::milliseconds(3000)},
                      .leases_per_second = 62,
                      .parked = {{.number = 17, .tries = 5, .reason = "at sink: no.", .work = {.path = "/data/17"}}}};
  WorkersSnapshot workers{.workers = {{.place = 1, .process = 12}, {.place = 2}},
                          .replaced = 3,
                          .hung = 1,
                          .ledger = status.progress,
                          .leases_per_second = 62};
};

TEST_F(AStatus, IsSaidInLines) {
  std::string const text = status_text(status);
  EXPECT_THAT(text, HasSubstr("120 of 1000 leases done, 16 out (4 of processes that ended)"));
  EXPECT_THAT(text, HasSubstr("62.00 leases/s; 5 tries beyond the first; the first that is ready has waited for 3"));
  EXPECT_THAT(text, HasSubstr("lease 17 (/data/17) is parked after 5 tries: at sink: no.\n"));
  EXPECT_THAT(text, Not(HasSubstr("more are parked")));
  status.progress.parked = 3;
  EXPECT_THAT(status_text(status), HasSubstr("2 more are parked.\n"));
}

TEST_F(AStatus, IsOneObjectOfJson) {
  auto const json = nlohmann::json::parse(status_json(status));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["kind"], "ledger");
  EXPECT_EQ(json["oldest_out_s"], 2.1);
  EXPECT_EQ(json["retries"], 5);
  EXPECT_EQ(json["finished"], false);
  EXPECT_EQ(json["parked_leases"][0]["reason"], "at sink: no.");
  EXPECT_TRUE(json["parked_leases"][0]["length_bytes"].is_null()) << "to the end";
}

/// Of a ledger in PostgreSQL.
TEST_F(AStatus, NamesTheTransactionThatKeepsDeadRows) {
  EXPECT_TRUE(nlohmann::json::parse(status_json(status))["dead_rows"].is_null());
  status.upkeep = {.dead_rows = 1200};
  EXPECT_THAT(status_text(status), HasSubstr("\n1200 dead rows\n"));
  status.upkeep = {.dead_rows = 1200,
                   .oldest_transaction = std::chrono::seconds(60),
                   .transaction_of = "process 812 (psql, user anna)"};
  EXPECT_THAT(status_text(status),
              AllOf(HasSubstr("has been open for 60.0 s: process 812 (psql, user anna)\n"), Not(HasSubstr("End it"))));
  status.upkeep->oldest_transaction = std::chrono::milliseconds(60001);
  EXPECT_THAT(status_text(status), HasSubstr("\nThis transaction keeps the server from removing dead rows"));
  auto const json = nlohmann::json::parse(status_json(status));
  EXPECT_EQ(json["dead_rows"], 1200);
  EXPECT_EQ(json["oldest_transaction_s"], 60.001);
  EXPECT_EQ(json["oldest_transaction"], "process 812 (psql, user anna)");
}

TEST_F(AStatus, IsALineWithTheWorkers) {
  EXPECT_EQ(work_line(workers), "120 of 1000 leases done, 62.00/s, 16 out, 1 parked; 1 worker, 3 replaced");
  EXPECT_THAT(work_line(workers, 200), HasSubstr("]  120 of 1000"));
}

TEST_F(AStatus, IsOpenMetrics) {
  std::vector<Metric> metrics;
  add_metrics(metrics, workers);
  std::string const text = text_of(metrics, MetricFormat::open_metrics);
  for (char const* const line :
       {"penstock_leases{state=\"ready\"} 863\n", "penstock_leases{state=\"parked\"} 1\n", "penstock_leases_lost 4\n",
        "penstock_leases_oldest_out_seconds 2.1\n", "penstock_lease_retries_total 5\n",
        "penstock_workers{state=\"running\"} 1\n", "penstock_workers{state=\"waiting\"} 1\n",
        "penstock_workers_replaced_total 3\n", "penstock_workers_hung_total 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(AStatus, IsWellWhileAWorkerRuns) {
  EXPECT_TRUE(health_of(workers).well);
  workers.workers[0].process = 0;
  EXPECT_FALSE(health_of(workers).well);
  workers.workers[0].is_over = true;
  EXPECT_TRUE(health_of(workers).well) << "nothing more is to be done there";
}

}  // namespace
}  // namespace penstock::cli
