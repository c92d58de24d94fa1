// SPDX-License-Identifier: Apache-2.0
// How many leases a second do processes take and acknowledge in a ledger, each on the disk before it counts? Eight
// processes that take 16 at a time should reach 5,000 in a file and 7,000 in PostgreSQL, wait at most 50 ms for 99 of
// 100 exchanges, and share 1:2 at worst.
//
// PENSTOCK_BENCH_FOLDER is the folder of the file; default: that of temporary files, which should be on a disk. Where a
// PostgreSQL server is installed, one is started in /tmp; PENSTOCK_BENCH_POSTGRES is the address of another.
// Shares and waits mean something once a run takes seconds: --benchmark_min_time=5.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/lease/open_ledger.hpp"
#ifdef PENSTOCK_POSTGRES_PROGRAMS
#include "lease/postgres_server.hpp"
#endif

namespace penstock {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

std::string path() {
  char const* const folder = std::getenv("PENSTOCK_BENCH_FOLDER");
  std::filesystem::path const where = folder != nullptr ? folder : std::filesystem::temp_directory_path();
  return where / "penstock_ledger_bench";
}

void remove_ledger() {
  for (char const* const end : {"", "-locks", "-wal", "-shm"}) std::filesystem::remove(path() + end);
}

/// What one process did.
struct Share {
  std::uint64_t leases = 0;
  std::vector<double> waits;  ///< Of its exchanges, in milliseconds.
};

Share work(std::string const& where, std::size_t at_once) {
  auto const ledger = open_ledger(where);
  auto const owner = ledger->join();
  Share share;
  std::vector<Settlement> answers;
  for (bool finished = false; !finished;) {
    auto const begin = std::chrono::steady_clock::now();
    Exchange const result = owner->exchange(answers, at_once);
    share.waits.push_back(Milliseconds(std::chrono::steady_clock::now() - begin).count());
    share.leases += answers.size();
    answers.clear();
    for (Lease const& lease : result.taken)
      answers.push_back({.number = lease.number, .tries = lease.tries, .text = std::string(32, 'a')});
    // Others have the rest, and will not end.
    finished = answers.empty();
  }
  return share;
}

/// Reads what a process wrote, to its end.
Share read_share(int from) {
  Share share;
  if (read(from, &share.leases, sizeof share.leases) != sizeof share.leases) std::abort();
  for (double wait = 0; read(from, &wait, sizeof wait) == sizeof wait;) share.waits.push_back(wait);
  return share;
}

void write_share(int to, Share const& share) {
  std::size_t written = 0;
  auto const put = [&](void const* bytes, std::size_t count) { written += write(to, bytes, count) > 0 ? count : 0; };
  put(&share.leases, sizeof share.leases);
  for (double const wait : share.waits) put(&wait, sizeof wait);
}

/// Axes: processes, leases taken at once, leases in the ledger. `fresh` makes room for a new ledger, and names it.
void take_and_acknowledge(benchmark::State& state, std::string (*fresh)()) {
  auto const processes = static_cast<std::size_t>(state.range(0));
  std::vector<double> waits;
  std::vector<std::uint64_t> of_each(processes);
  double leases = 0, seconds = 0;
  for (auto _ : state) {
    std::string const where = fresh();
    open_ledger(where)->enqueue(
        std::vector<LeaseWork>(static_cast<std::size_t>(state.range(2)), {.path = "/data/file", .length = 1 << 26}),
        true);
    int go[2];
    if (pipe(go) != 0) std::abort();
    std::vector<int> from;
    std::vector<pid_t> workers;
    for (std::size_t k = 0; k < processes; ++k) {
      int results[2];
      if (pipe(results) != 0) std::abort();
      pid_t const worker = fork();
      if (worker == 0) {
        close(go[1]);
        char byte = 0;
        if (read(go[0], &byte, 1) != 0) _exit(1);  // All begin when the other end is closed.
        write_share(results[1], work(where, static_cast<std::size_t>(state.range(1))));
        _exit(0);
      }
      close(results[1]);
      workers.push_back(worker);
      from.push_back(results[0]);
    }
    auto const begin = std::chrono::steady_clock::now();
    close(go[0]);
    close(go[1]);
    for (std::size_t k = 0; k < processes; ++k) {
      Descriptor const results(from[k]);
      Share const share = read_share(results.number);
      of_each[k] += share.leases;
      waits.insert(waits.end(), share.waits.begin(), share.waits.end());
    }
    double const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (pid_t const worker : workers) waitpid(worker, nullptr, 0);
    state.SetIterationTime(took);
    seconds += took;
    leases += static_cast<double>(state.range(2));
  }
  std::ranges::sort(waits);
  auto const [least, most] = std::ranges::minmax(of_each);
  state.counters["leases_a_second"] = leases / seconds;
  state.counters["p50_ms"] = waits[waits.size() / 2];
  state.counters["p99_ms"] = waits[waits.size() * 99 / 100];
  state.counters["most_to_least"] = static_cast<double>(most) / static_cast<double>(std::max<std::uint64_t>(1, least));
}

void ask(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"processes", "at_once", "leases"})
      ->Args({4, 1, 400})
      ->Args({8, 1, 400})
      ->Args({4, 16, 8000})
      ->Args({8, 16, 8000})
      ->Args({16, 64, 32000})
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void in_a_file(benchmark::State& state) {
  take_and_acknowledge(state, [] {
    remove_ledger();
    return path();
  });
  remove_ledger();
}
BENCHMARK(in_a_file)->Apply(ask);

#ifdef PENSTOCK_POSTGRES_PROGRAMS
std::string fresh_in_postgres() {
  static int ledgers = 0;
  std::string const name = "bench" + std::to_string(getpid()) + "_" + std::to_string(++ledgers);
  if (char const* const other = std::getenv("PENSTOCK_BENCH_POSTGRES"))
    return other + std::string(std::string_view(other).find('?') == std::string_view::npos ? "?" : "&") +
           "ledger=" + name;
  return support::shared_postgres_server().address(name);
}

void in_postgres(benchmark::State& state) {
  take_and_acknowledge(state, fresh_in_postgres);
}
BENCHMARK(in_postgres)->Apply(ask);
#endif

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
