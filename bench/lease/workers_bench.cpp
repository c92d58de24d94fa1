// SPDX-License-Identifier: Apache-2.0
// What do four workers make of a ledger if one of them is killed each second, and six leases kill whatever takes them?
// All leases but these six must be answered once, and right; the six must be parked, and at most 2 % be done twice. Of
// a ledger in PostgreSQL the same must hold if all processes of the server are killed twice in the run.
//
// PENSTOCK_BENCH_FOLDER is the folder of the ledger; default: that of temporary files, which should be on a disk. The
// PostgreSQL server is one of its own, in /tmp.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lease/until_there.hpp"
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/lease/open_ledger.hpp"
#include "penstock/lease/workers.hpp"
#ifdef PENSTOCK_POSTGRES_PROGRAMS
#include "lease/postgres_server.hpp"
#endif

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
  auto const ledger = until_there([&] { return open_ledger(ledger_name, {.opening = LedgerOpening::existing}); });
  auto const owner = until_there([&] { return ledger->join(); });
  WorkerReport report;
  Descriptor const log(open(log_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  std::vector<Settlement> answers;
  for (;;) {
    report.asks(true);
    Exchange const result = until_there([&] { return owner->exchange(answers, 16); });
    report.asks(false);
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

/// What became of the leases.
struct Outcome {
  std::uint64_t once = 0, wrong = 0, parked = 0, parked_right = 0;
  double twice_percent = 0;
};

Outcome outcome_of(Ledger& ledger, std::uint64_t leases) {
  Outcome outcome;
  for (std::uint64_t after = 0;;) {
    auto const page = ledger.answers(after, 10000);
    if (page.empty()) break;
    after = page.back().number;
    for (LeaseAnswer const& one : page) ++(one.answer == answer_to(one.number) ? outcome.once : outcome.wrong);
  }
  auto const parked = ledger.parked();
  outcome.parked = parked.size();
  for (ParkedLease const& one : parked) outcome.parked_right += is_deadly(one.number, leases) ? 1U : 0U;
  std::set<std::uint64_t> distinct;
  std::uint64_t noted = 0;
  std::ifstream log(path("-log"), std::ios::binary);
  for (std::uint64_t number = 0; log.read(reinterpret_cast<char*>(&number), sizeof number); ++noted)
    distinct.insert(number);
  outcome.twice_percent = 100.0 * static_cast<double>(noted - distinct.size()) / static_cast<double>(leases);
  return outcome;
}

void remove_files() {
  for (char const* const end : {"", "-locks", "-wal", "-shm", "-log"}) std::filesystem::remove(path(end));
}

/// The work of a run, at its end and for each time that `restart` is to be called.
///
/// Threads: the main thread, with which a server ends.
void run(Workers& workers, unsigned restarts, std::uint64_t leases, std::function<void()> const& restart) {
  std::atomic<bool> is_over{false};
  std::jthread const running([&] {
    workers.run();
    is_over = true;
  });
  for (unsigned done = 0; !is_over; poll(nullptr, 0, 10)) {
    auto const seen = workers.snapshot().ledger;
    if (done == restarts || !seen || seen->done < leases * (done + 1) / (restarts + 1)) continue;
    restart();
    ++done;
  }
}

/// Axes: leases in the ledger. The server is begun anew `restarts` times.
void survive(benchmark::State& state, std::string const& where, unsigned restarts,
             std::function<void()> const& restart) {
  auto const leases = static_cast<std::uint64_t>(state.range(0));
  std::vector<LeaseWork> work(leases, {.payload = "work"});
  for (std::uint64_t k = 0; k < leases; ++k) {
    if (is_deadly(k + 1, leases)) work[k].payload = "kill";
  }
  auto const ledger = open_ledger(where, {.opening = LedgerOpening::fresh, .most_tries = 5});
  ledger->enqueue(work, true);
  Workers workers(*ledger, {.command = {"/proc/" + std::to_string(getpid()) + "/exe", "--work-on", where, path("-log")},
                            .workers = 4});
  auto const begin = std::chrono::steady_clock::now();
  Killer killer(workers);
  run(workers, restarts, leases, restart);
  killer.stop();
  double const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  state.SetIterationTime(took);
  Outcome const all = outcome_of(*ledger, leases);
  auto const count = [&](char const* name, double value) { state.counters[name] = value; };
  count("answered", static_cast<double>(all.once));
  count("wrong", static_cast<double>(all.wrong));
  count("parked", static_cast<double>(all.parked));
  count("parked_right", static_cast<double>(all.parked_right));
  count("done_twice_percent", all.twice_percent);
  count("killed", killer.killed);
  count("replaced", static_cast<double>(workers.snapshot().replaced));
  count("leases_a_second", static_cast<double>(leases) / took);
  if (all.once != leases - deadly || all.wrong != 0 || all.parked_right != deadly || all.parked != deadly)
    state.SkipWithError("A lease is lost, answered wrongly, or parked for another.");
  else if (leases >= 100000 && all.twice_percent > 2)  // Of few leases the batches of the deadly ones are more.
    state.SkipWithError("Too much work was done twice.");
}

void ask(benchmark::internal::Benchmark* bench) {
  bench->ArgName("leases")->Arg(3000)->Arg(100000)->Iterations(1)->UseManualTime()->Unit(benchmark::kSecond);
}

void in_a_file(benchmark::State& state) {
  set_message_hook([](std::string_view) noexcept {});
  for (auto _ : state) {
    remove_files();
    survive(state, path(), 0, {});
  }
  set_message_hook(nullptr);
  remove_files();
}
BENCHMARK(in_a_file)->Apply(ask);

#ifdef PENSTOCK_POSTGRES_PROGRAMS
void in_postgres(benchmark::State& state) {
  set_message_hook([](std::string_view) noexcept {});
  for (auto _ : state) {
    remove_files();
    support::PostgresServer server;
    survive(state, server.address("workers"), 2, [&] {
      server.kill();
      server.start();
    });
  }
  set_message_hook(nullptr);
  remove_files();
}
BENCHMARK(in_postgres)->Apply(ask);
#endif

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  if (count == 4 && std::string_view(words[1]) == "--work-on") return penstock::work(words[2], words[3]);
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
