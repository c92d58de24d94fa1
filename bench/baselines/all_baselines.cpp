// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "baselines.hpp"
#include "contestant.hpp"

namespace baselines {
namespace {

/// Maximum bytes in flight of each baseline, so that large tiles in deep flight find room to be pinned.
constexpr std::size_t most_in_flight = std::size_t{512} << 20;

std::string several(unsigned count, std::string const& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::vector<Way> round_robins(std::size_t) {
  std::vector<Way> ways;
  for (unsigned const streams : {2U, 4U, 8U, 16U}) {
    ways.push_back({several(streams, "stream"), streams, [=](Work& work) { round_robin(work, streams); }, {}});
  }
  return ways;
}

std::vector<Way> threads_by_streams(std::size_t) {
  constexpr std::array<std::pair<unsigned, unsigned>, 11> worth_trying{
      {{1, 4}, {2, 2}, {2, 4}, {4, 1}, {4, 2}, {4, 4}, {8, 1}, {8, 2}, {8, 4}, {16, 1}, {16, 2}}};
  std::vector<Way> ways;
  for (auto const& [threads, streams] : worth_trying) {
    ways.push_back({several(threads, "thread") + " x " + several(streams, "stream"),
                    std::size_t{threads} * streams,
                    [threads = threads, streams = streams](Work& work) { threads_and_streams(work, threads, streams); },
                    {}});
  }
  return ways;
}

std::vector<Way> deep_flights(std::size_t bytes) {
  std::vector<Way> ways;
  for (unsigned const threads : {1U, 2U, 4U, 8U, 16U}) {
    auto const depth = static_cast<unsigned>(std::clamp<std::size_t>(most_in_flight / bytes / threads, 1, 128));
    ways.push_back({several(threads, "thread") + ", " + std::to_string(depth) + " in flight each",
                    std::size_t{threads} * depth,
                    [=](Work& work) { deep_flight(work, threads, depth); },
                    {}});
  }
  return ways;
}

std::vector<Way> with_tokens(std::initializer_list<unsigned> counts, void (*run)(Work&, unsigned tokens)) {
  std::vector<Way> ways;
  for (unsigned const tokens : counts) {
    ways.push_back({several(tokens, "token"), tokens, [=](Work& work) { run(work, tokens); }, {}});
  }
  return ways;
}

Contestant without_knobs(std::string const& name, std::size_t tiles, void (*run)(Work&)) {
  return {name, false, [=](std::size_t) { return std::vector<Way>{{"", tiles, run, {}}}; }};
}

}  // namespace

std::vector<Contestant> all_baselines() {
  return {
      without_knobs("sequential", 1, sequential),
      without_knobs("double buffered", 2, double_buffered),
      {"one thread, n streams", false, round_robins},
      {"threads x streams", false, threads_by_streams},
      {"a stream a thread, deep", false, deep_flights},
      {"oneTBB parallel_pipeline", false,
       [](std::size_t) {
         return with_tokens({4, 8, 16}, tbb_pipeline);
       }},
      {"oneTBB flow graph, callbacks", false,
       [](std::size_t) {
         return with_tokens({4, 16, 64}, tbb_flow_graph);
       }},
  };
}

}  // namespace baselines
