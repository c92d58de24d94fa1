// SPDX-License-Identifier: Apache-2.0
// What is the highest rate of 1 KiB datagrams on the loopback of which none is dropped, beside a loop of recvmmsg?
// Budget: into tiles and through a whole pipeline 0.9 of the loop's, and whatever the rate, each datagram that was sent
// is answered or counted as dropped.
//
// A rate holds if no datagram of half a second is dropped. If the sender's full rate does not hold, the highest rate is
// found by bisection, as RFC 2544 does. Each iteration searches for all three, one after the other; figures are
// medians. The sender is the same for all: a process that shares the CPUs with the receiver. PENSTOCK_BENCH_MEBIBYTES
// makes a search of two steps, each of which sends this much.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "receiving.hpp"
#include <benchmark/benchmark.h>

namespace penstock {
namespace {

constexpr std::size_t datagram_bytes = 1024;

/// Result at one rate.
struct Trial {
  double rate = 0;  ///< Bytes a second that the sender reached.
  std::uint64_t sent = 0, answered = 0, dropped = 0;
  double cpu = 0;

  std::uint64_t silent() const { return sent - answered - dropped; }
};

std::optional<std::uint64_t> bytes_of_a_trial() {
  char const* const text = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
  if (text == nullptr) return {};
  return std::strtoull(text, nullptr, 10) << 20;
}

/// A `rate` of 0 is the highest possible.
Trial send_at(double rate, Receiving way, Load load) {
  constexpr double seconds = 0.5, at_least = 100e6;
  constexpr std::uint64_t group = 16 * datagram_bytes;
  double const bytes = seconds * (rate > 0 ? std::max(rate, at_least) : 1e9);
  load.bytes_per_second = rate;
  load.bytes = bytes_of_a_trial().value_or(static_cast<std::uint64_t>(bytes)) / group * group;
  Received const got = receive_datagrams(way, load);
  // A run in which the sender could not send all has no result.
  return {.rate = got.sent_for > 0 ? double(load.bytes) / got.sent_for : 0,
          .sent = load.bytes / datagram_bytes,
          .answered = got.bytes / datagram_bytes,
          .dropped = got.dropped,
          .cpu = got.cpu / (double(got.bytes) / 1e9)};
}

/// The highest rate that holds, and the drops at rates that do not.
struct Search {
  Trial highest;
  std::uint64_t dropped = 0, silent = 0;
  bool by_sender = false;  ///< The sender's full rate holds.
};

Search search(Receiving way, Load const& load) {
  Search all;
  auto const holds = [&](double rate) {
    Trial const one = send_at(rate, way, load);
    all.dropped += one.dropped;
    all.silent += one.silent();
    bool const all_came = one.dropped + one.silent() == 0 && one.rate > 0;
    if (all_came && one.rate > all.highest.rate) all.highest = one;
    return std::pair(all_came, one.rate);
  };
  auto const [all_holds, most] = holds(0);
  all.by_sender = all_holds;
  double least = 0, limit = most;
  for (int step = bytes_of_a_trial() ? 6 : 0; !all_holds && step < 8; ++step) {
    double const middle = (least + limit) / 2;
    (holds(middle).first ? least : limit) = middle;
  }
  return all;
}

double median(std::vector<double> all) {
  auto const middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

void highest_rate(benchmark::State& state) {
  Load const load{.least = datagram_bytes,
                  .most = datagram_bytes,
                  .divided_by_system = state.range(0) != 0,
                  .receive_buffer = static_cast<std::size_t>(state.range(1)) << 20};
  struct Way {
    Receiving way;
    char const* name;
    std::vector<double> rates, ratios, cpu;
    double by_sender = 0;
  };
  std::array<Way, 3> ways{Way{Receiving::bare, "bare", {}, {}, {}}, Way{Receiving::tiles, "tiles", {}, {}, {}},
                          Way{Receiving::pipeline, "pipeline", {}, {}, {}}};
  double dropped = 0, silent = 0;
  for (auto _ : state) {
    for (Way& one : ways) {
      Search const found = search(one.way, load);
      one.rates.push_back(found.highest.rate / 1e6);
      one.ratios.push_back(one.rates.back() / ways[0].rates.back());
      one.cpu.push_back(found.highest.cpu);
      one.by_sender += found.by_sender ? 1 : 0;
      dropped += double(found.dropped);
      silent += double(found.silent);
    }
  }
  for (Way const& one : ways) {
    auto const show = [&](char const* what, double value) { state.counters[std::string(one.name) + what] = value; };
    show("_MB_s", median(one.rates));
    show("_cpu_s_per_GB", median(one.cpu));
    show("_by_sender", one.by_sender);
    if (one.way != Receiving::bare) show("_ratio", median(one.ratios));
  }
  state.counters["dropped"] = dropped;
  state.counters["silent"] = silent;
  if (silent != 0) state.SkipWithError("datagrams are neither answered nor counted as dropped");
}
BENCHMARK(highest_rate)
    ->ArgNames({"divided_by_system", "buffer_mib"})
    ->Args({0, 8})
    ->Args({1, 8})
    ->Iterations(bytes_of_a_trial() ? 1 : 7)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
