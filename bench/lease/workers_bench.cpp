// SPDX-License-Identifier: Apache-2.0
// What do four workers make of a ledger if one of them is killed each second, and six leases kill whatever takes them?
// All leases but these six must be answered once, and right; the six must be parked, and at most 2 % be done twice.
//
// PENSTOCK_BENCH_FOLDER is the folder of the ledger; default: that of temporary files, which should be on a disk.
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "penstock/lease/workers.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t deadly = 6;

std::string path(char const* end = "") {
  char const* const folder = std::getenv("PENSTOCK_BENCH_FOLDER");
  std::filesystem::path const where = folder != nullptr ? folder : std::filesystem::temp_directory_path();
  return where / (std::string("penstock_workers_bench") + end);
}

std::string answer_to(std::uint64_t number) {
  return "of " + std::to_string(number * 2654435761U);
}

bool is_deadly(std::uint64_t number, std::uint64_t leases) {
  return number % (leases / deadly) == leases / deadly / 2 && number / (leases / deadly) < deadly;
}

/// A worker: it notes each lease that it works on.
int work(char const* ledger_name, char const* log_name) {
  SqliteLedger ledger(ledger_name);
  auto const owner = ledger.join();
  WorkerReport report;
  Descriptor const log(open(log_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  std::vector<Settlement> answers;
  for (;;) {
    Exchange const result = owner->exchange(answers, 16);
    report.holds(result.taken.size());
    for (std::size_t k = 0; k < answers.size(); ++k) report.answered();
    answers.clear();
    if (result.finished) return 0;
    if (result.taken.empty()) poll(nullptr, 0, 2);
    for (Lease const& lease : result.taken) {
      if (lease.work.payload == "kill") kill(getpid(), SIGKILL);
      if (write(log.number, &lease.number, sizeof lease.number) != sizeof lease.number) return 4;
      report.moved();
      answers.push_back({.number = lease.number, .tries = lease.tries, .text = answer_to(lease.number)});
    }
  }
}

/// Kills one of the workers each second.
class Killer {
 public:
  explicit Killer(Workers const& workers)
      : thread_([this, &workers](std::stop_token const& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::mt19937 random(20261130);
          while (!changed_.wait_for(lock, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); })) {
            auto const all = workers.snapshot().workers;
            int const process = all[random() % all.size()].process;
            if (process != 0 && kill(process, SIGKILL) == 0) ++killed;
          }
        }) {}
  unsigned killed = 0;  ///< Once `stop` has returned.
  void stop() {
    thread_.request_stop();
    thread_.join();
  }

 private:
  std::condition_variable_any changed_;
  std::jthread thread_;
};

/// Axes: leases in the ledger.
void survive(benchmark::State& state) {
  auto const leases = static_cast<std::uint64_t>(state.range(0));
  set_message_hook([](std::string_view) noexcept {});
  for (auto _ : state) {
    for (char const* const end : {"", "-locks", "-wal", "-shm", "-log"}) std::filesystem::remove(path(end));
    SqliteLedger ledger(path(), {.most_tries = 5});
    std::vector<LeaseWork> work(leases, {.payload = "work"});
    for (std::uint64_t k = 0; k < leases; ++k) {
      if (is_deadly(k + 1, leases)) work[k].payload = "kill";
    }
    ledger.enqueue(work, true);
    Workers workers(
        ledger,
        {.command = {"/proc/" + std::to_string(getpid()) + "/exe", "--work-on", path(), path("-log")}, .workers = 4});
    auto const begin = std::chrono::steady_clock::now();
    Killer killer(workers);
    workers.run();
    killer.stop();
    double const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    state.SetIterationTime(took);

    std::uint64_t once = 0, wrong = 0, noted = 0;
    for (std::uint64_t after = 0;;) {
      auto const page = ledger.answers(after, 10000);
      if (page.empty()) break;
      after = page.back().number;
      for (LeaseAnswer const& one : page) ++(one.answer == answer_to(one.number) ? once : wrong);
    }
    std::uint64_t right_parked = 0;
    auto const parked = ledger.parked();
    for (ParkedLease const& one : parked) right_parked += is_deadly(one.number, leases) ? 1U : 0U;
    std::set<std::uint64_t> distinct;
    std::ifstream log(path("-log"), std::ios::binary);
    for (std::uint64_t number = 0; log.read(reinterpret_cast<char*>(&number), sizeof number); ++noted)
      distinct.insert(number);
    auto const count = [&](char const* name, double value) { state.counters[name] = value; };
    count("answered", static_cast<double>(once));
    count("wrong", static_cast<double>(wrong));
    count("parked", static_cast<double>(parked.size()));
    count("parked_right", static_cast<double>(right_parked));
    double const twice = 100.0 * static_cast<double>(noted - distinct.size()) / static_cast<double>(leases);
    count("done_twice_percent", twice);
    count("killed", killer.killed);
    count("replaced", static_cast<double>(workers.snapshot().replaced));
    count("leases_a_second", static_cast<double>(leases) / took);
    if (once != leases - deadly || wrong != 0 || right_parked != deadly || parked.size() != deadly)
      state.SkipWithError("A lease is lost, answered wrongly, or parked for another.");
    else if (leases >= 100000 && twice > 2)  // Of few leases the batches of the deadly ones are more.
      state.SkipWithError("Too much work was done twice.");
  }
  set_message_hook(nullptr);
  for (char const* const end : {"", "-locks", "-wal", "-shm", "-log"}) std::filesystem::remove(path(end));
}
BENCHMARK(survive)->ArgName("leases")->Arg(3000)->Arg(100000)->Iterations(1)->UseManualTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  if (count == 4 && std::string_view(words[1]) == "--work-on") return penstock::work(words[2], words[3]);
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
