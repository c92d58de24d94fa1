// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lease/ledger_world.hpp"
#include "support/folder_of_files.hpp"
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include "penstock/error.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "penstock/lease/workers.hpp"

namespace penstock::support {

/// A lease that a worker took, as it says.
struct TookLease {
  std::uint64_t number = 0;
  std::uint32_t tries = 0;
  int process = 0;
};

/// Workers of the program penstock_supervised_worker on a ledger. At the end no process of them is left, and each lease
/// that is done has its answer.
///
/// Nothing here ends by time: patience and pauses are an hour, if a test does not say otherwise.
struct SupervisedWorkers : FolderOfFiles {
  /// Enough for a machine that is too busy for a short patience now and then.
  static constexpr std::uint32_t most_tries = 8;
  std::string name;
  std::optional<SqliteLedger> ledger;
  WorkersOptions options;
  std::optional<Workers> workers;
  std::stop_source stop;
  std::thread runner;
  std::optional<WorkersEnd> end;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
  static inline std::mutex messages_mutex;
  static inline std::vector<std::string> messages;

  void SetUp() override {
    FolderOfFiles::SetUp();
    name = path("ledger");
    ledger.emplace(name, LedgerOptions{.most_tries = most_tries});
    options.patience = options.grace = options.shortest_pause = options.longest_pause = std::chrono::hours(1);
    options.workers = 3;
    at_once(1);
    options.output = [this](std::string_view some) {
      EXPECT_TRUE(some.ends_with('\n')) << some;
      std::istringstream in{std::string(some)};
      std::lock_guard const lock(mutex);
      for (std::string line; std::getline(in, line);) lines.push_back(line);
      changed.notify_all();
      return true;
    };
    messages.clear();
    set_message_hook([](std::string_view text) noexcept {
      std::lock_guard const lock(messages_mutex);
      messages.emplace_back(text);
    });
  }
  void TearDown() override {
    if (runner.joinable()) finish(true);
    set_message_hook(nullptr);
    if (workers) {
      for (WorkerState const& one : workers->snapshot().workers) EXPECT_EQ(one.process, 0);
    }
    for (LeaseAnswer const& one : ledger->answers()) EXPECT_TRUE(one.answer.starts_with("of ")) << one.answer;
    ledger->join()->exchange({}, 0);
    EXPECT_EQ(ledger->progress().out, 0U);
    workers.reset();
    ledger.reset();
    FolderOfFiles::TearDown();
  }

  void at_once(int leases) { options.command = {PENSTOCK_SUPERVISED_WORKER, name, std::to_string(leases)}; }
  void enqueue(std::vector<std::string> const& payloads) {
    std::vector<LeaseWork> work;
    for (std::string const& one : payloads) work.push_back({.payload = one});
    ASSERT_TRUE(ledger->enqueue(work, true));
  }
  void start() {
    workers.emplace(*ledger, options);
    runner = std::thread([this] { end = workers->run(stop.get_token()); });
  }
  /// Waits until all workers have ended.
  WorkersEnd finish(bool stopped = false) {
    if (stopped) stop.request_stop();
    runner.join();
    return *end;
  }
  WorkersEnd run() {
    start();
    return finish();
  }
  /// Waits until that is so, for what no line says.
  template <class Condition>
  static void await(Condition const& is_so) {
    while (!is_so()) poll(nullptr, 0, 5);
  }
  /// Waits for the line in which a worker says that it took this lease, by this try.
  TookLease await_taken(std::uint64_t number, std::uint32_t tries = 1) {
    std::unique_lock lock(mutex);
    for (;;) {
      for (std::string const& line : lines) {
        TookLease took;
        std::istringstream words(line);
        std::string word;
        words >> word >> took.number >> took.tries >> took.process;
        if (took.number == number && took.tries == tries) return took;
      }
      changed.wait(lock);
    }
  }
  std::size_t said(std::string_view part) {
    std::lock_guard const lock(messages_mutex);
    std::size_t count = 0;
    for (std::string const& one : messages) count += one.find(part) != std::string::npos ? 1U : 0U;
    return count;
  }
  void expect_all_answered_but(std::set<std::uint64_t> const& parked) {
    LedgerProgress const all = ledger->progress();
    EXPECT_TRUE(all.finished()) << describe(all);
    EXPECT_EQ(all.done + parked.size(), all.leases) << describe(all);
    std::set<std::uint64_t> are_parked;
    for (ParkedLease const& one : ledger->parked()) are_parked.insert(one.number);
    EXPECT_EQ(are_parked, parked);
  }
};

}  // namespace penstock::support
