// SPDX-License-Identifier: Apache-2.0
// What do sockets cost on their way into tiles, beside a loop that only reads them? Budget: at 300 MB/s of messages of
// 1 to 8 KiB at most 1.3 times the CPU time, with nothing lost, into tiles and through a whole pipeline
// (docs/decisions/sockets-and-rings.md).
//
// Each iteration does all three, one after the other; figures are medians. PENSTOCK_BENCH_MEBIBYTES is the amount that
// is sent for each.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "receiving.hpp"
#include <benchmark/benchmark.h>

namespace penstock {
namespace {

std::uint64_t bytes_to_send() {
  char const* const text = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
  return (text == nullptr ? 600 : std::strtoull(text, nullptr, 10)) << 20;
}

double median(std::vector<double> all) {
  auto const middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

/// Reports the results of all ways, and each as a share of the loop's.
void compare(benchmark::State& state, Load load, bool datagrams) {
  load.bytes = bytes_to_send();
  if (load.before) load.bytes = std::min<std::uint64_t>(load.bytes, 32 << 20);  // A buffer holds this much.
  struct Way {
    Receiving way;
    char const* name;
    std::vector<double> cpu, rates, cpu_ratios, rate_ratios;
    double lost = 0;
  };
  std::array<Way, 3> ways{Way{Receiving::bare, "bare", {}, {}, {}, {}}, Way{Receiving::tiles, "tiles", {}, {}, {}, {}},
                          Way{Receiving::pipeline, "pipeline", {}, {}, {}, {}}};
  for (auto _ : state) {
    for (Way& one : ways) {
      Received const got = datagrams ? receive_datagrams(one.way, load) : receive_streams(one.way, load);
      one.cpu.push_back(got.cpu / (double(got.bytes) / 1e9));
      one.rates.push_back(double(got.bytes) / got.seconds / 1e6);
      one.cpu_ratios.push_back(one.cpu.back() / ways[0].cpu.back());
      one.rate_ratios.push_back(one.rates.back() / ways[0].rates.back());
      // The sender may exceed it by a few messages.
      one.lost = std::max(one.lost, 1 - double(got.bytes) / double(load.bytes));
    }
  }
  for (Way const& one : ways) {
    auto const show = [&](char const* what, double value) { state.counters[std::string(one.name) + what] = value; };
    show("_cpu_s_per_GB", median(one.cpu));
    show("_MB_s", median(one.rates));
    show("_lost", one.lost);
    if (one.way == Receiving::bare) continue;
    show("_cpu_ratio", median(one.cpu_ratios));
    show("_rate_ratio", median(one.rate_ratios));
  }
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  using namespace penstock;
  auto const add = [](std::string const& name, Load const& load, bool datagrams) {
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { compare(state, load, datagrams); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(std::getenv("PENSTOCK_BENCH_MEBIBYTES") != nullptr ? 1 : 5);
  };
  for (unsigned const connections : {1U, 8U, 256U}) {
    add("streams/300MB_s/connections:" + std::to_string(connections), {.connections = connections}, false);
  }
  add("streams/full/connections:8", {.bytes_per_second = 0, .connections = 8}, false);
  add("streams/300MB_s/connections:8/producers:2", {.connections = 8, .producers = 2}, false);
  add("datagrams/300MB_s/1_to_8_KiB", {}, true);
  add("datagrams/100MB_s/1_KiB", {.bytes_per_second = 100e6, .most = 1024}, true);
  add("datagrams/full/1_KiB", {.bytes_per_second = 0, .most = 1024}, true);
  add("datagrams/drained/1_KiB", {.bytes_per_second = 0, .most = 1024, .before = true}, true);
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
