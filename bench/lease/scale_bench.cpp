// SPDX-License-Identifier: Apache-2.0
// Do 2 and 4 workers, each of four threads, work on leases twice and four times as fast as one? Budget: 0.9 of that,
// while each thread has a CPU.
//
// PENSTOCK_BENCH_FOLDER is the folder of the ledger; default: that of temporary files, which should be on a disk.
// PENSTOCK_BENCH_LEASES are the leases of a run, each of some 20 ms; default: 4000.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "penstock/lease/lease_source.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "penstock/lease/workers.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

constexpr unsigned threads_of_a_worker = 4;

std::string path(char const* end = "") {
  char const* const folder = std::getenv("PENSTOCK_BENCH_FOLDER");
  std::filesystem::path const where = folder != nullptr ? folder : std::filesystem::temp_directory_path();
  return where / (std::string("penstock_scale_bench") + end);
}

std::uint64_t leases_of_a_run() {
  char const* const leases = std::getenv("PENSTOCK_BENCH_LEASES");
  return leases != nullptr ? std::strtoull(leases, nullptr, 10) : 4000;
}

/// Steps that wait for each other, in registers: CPUs that share a core do not disturb each other either.
std::uint64_t result_of(std::uint64_t number) {
  for (int step = 0; step < 12'000'000; ++step) number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

/// Answers with the number that the lease's tile brings back.
class Results final : public LeaseSink {
 public:
  void take(Completion& completion, LeasePart const& part) override {
    auto const bytes = completion.loan->produced_output();
    std::lock_guard const lock(mutex_);
    std::memcpy(&results_[part.lease.number], bytes.data(), sizeof(std::uint64_t));
  }
  std::optional<std::string> answer(Lease const& lease) override {
    std::lock_guard const lock(mutex_);
    return std::to_string(results_.extract(lease.number).mapped());
  }
  void forget(Lease const& lease) noexcept override {
    std::lock_guard const lock(mutex_);
    results_.erase(lease.number);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> results_;
};

/// A worker: each lane is a thread that computes.
int work(char const* name) {
  SqliteLedger ledger(name);
  auto const device = open_device("cpu");
  Pipeline pipeline(*device, {.tile = tile_of<std::uint64_t>(1),
                              .producers = 1,
                              .lanes = threads_of_a_worker,
                              .consumers = 1,
                              .tuning = {.tiles = 32}});
  Results sink;
  LeaseSource source(ledger, pipeline.pool(), sink);
  Report const report = pipeline.run(source, on_device([](DeviceTile const& tile, StreamRef stream) {
                                       stream.launch(1, [tile](KernelBlock block) {
                                         std::uint64_t number = 0;
                                         std::memcpy(&number, tile.input.in(block).data(), sizeof number);
                                         number = result_of(number);
                                         std::memcpy(tile.output.in(block).data(), &number, sizeof number);
                                       });
                                     }),
                                     source.sink());
  source.finish();
  return report.ok() ? 0 : 4;
}

struct Answered {
  double seconds = 0;
  std::uint64_t right = 0;
};

/// The time that this many workers take for all leases.
Answered time_of(unsigned workers, std::uint64_t leases) {
  for (char const* const end : {"", "-locks", "-wal", "-shm"}) std::filesystem::remove(path(end));
  SqliteLedger ledger(path());
  std::vector<LeaseWork> work;
  for (std::uint64_t k = 1; k <= leases; ++k)
    work.push_back({.payload = std::string(reinterpret_cast<char const*>(&k), sizeof k)});
  ledger.enqueue(work, true);
  auto const begin = std::chrono::steady_clock::now();
  Workers(ledger, {.command = {"/proc/" + std::to_string(getpid()) + "/exe", "--work-on", path()}, .workers = workers})
      .run();
  Answered all{.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  for (std::uint64_t after = 0;;) {
    auto const page = ledger.answers(after, 10000);
    if (page.empty()) return all;
    after = page.back().number;
    // One in a hundred is reckoned again, since each takes as long as a lease.
    for (LeaseAnswer const& one : page) {
      bool const is_looked_at = one.number % 100 == 1;
      all.right += !is_looked_at || one.answer == std::to_string(result_of(one.number)) ? 1U : 0U;
    }
  }
}

/// Leases a second of one worker, as the last run of one had.
double rate_of_one = 0;
/// The budget was missed. An error of the benchmark would hide the figures.
bool is_missed = false;

/// Axes: workers.
void scale(benchmark::State& state) {
  auto const workers = static_cast<unsigned>(state.range(0));
  std::uint64_t const leases = leases_of_a_run();
  for (auto _ : state) {
    Answered const all = time_of(workers, leases);
    state.SetIterationTime(all.seconds);
    double const rate = static_cast<double>(leases) / all.seconds;
    if (workers == 1) rate_of_one = rate;
    double const efficiency = rate_of_one > 0 ? rate / rate_of_one / workers : 0;
    state.counters["leases_a_second"] = rate;
    state.counters["of_linear"] = efficiency;
    bool const has_cpus = std::thread::hardware_concurrency() >= workers * threads_of_a_worker;
    if (all.right != leases)
      state.SkipWithError("A lease is not answered, or wrongly.");
    else if (leases >= 1000 && has_cpus && efficiency > 0 && efficiency < 0.9)
      is_missed = true, state.SetLabel("less than 0.9 of linear");
  }
  for (char const* const end : {"", "-locks", "-wal", "-shm"}) std::filesystem::remove(path(end));
}
BENCHMARK(scale)->ArgName("workers")->Arg(1)->Arg(2)->Arg(4)->Iterations(1)->UseManualTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "--work-on") return penstock::work(words[2]);
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
  return penstock::is_missed ? 1 : 0;
}
