// SPDX-License-Identifier: Apache-2.0
// One tile of sixteen whose kernel fails: the report names that tile and no other.
// usage: penstock_late_error KIND PLACE WAY [SEED]
//   KIND   address, assert, endless, launch: what its kernel does
//   PLACE  first, middle, last: of its batch of four
//   WAY    calls, graph, mapped, in_place: how tiles go
// A program of its own, since attribution starts it again. Exit code 77 without a GPU.
#undef NDEBUG
#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include <penstock/models/devices.hpp>
#include <penstock/observe.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

namespace {

constexpr std::uint64_t tiles = 16;
constexpr std::uint64_t batch = 4;

enum class Kind { address, assertion, endless, launch };

/// A tile says with its first element what its kernel does, so the fault is in the data and a graph meets it, too.
struct Content {
  static constexpr float innocent = 1;
  static constexpr float guilty = 2;
};

__global__ void work(float const* from, std::size_t count, float* to, Kind kind) {
  bool const guilty = from[0] == Content::guilty;
  if (guilty && kind == Kind::endless) {
    for (bool volatile on = true; on;) __nanosleep(1000);
  }
  assert(!guilty || kind != Kind::assertion);
  float* const where = guilty && kind == Kind::address ? nullptr : to;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) where[i] = from[i] + 1;
}

struct Case {
  Kind kind = Kind::address;
  std::uint64_t culprit = 13;
  PipelineOptions options = {};
};

template <std::size_t count>
std::size_t place_of(std::array<std::string_view, count> const& names, std::string_view name) {
  auto const found = std::ranges::find(names, name);
  if (found == names.end()) throw Error(ErrorKind::bad_argument, "There is no '" + std::string(name) + "'.");
  return static_cast<std::size_t>(found - names.begin());
}

Case case_of(std::string_view kind, std::string_view place, std::string_view way, unsigned seed) {
  Case one;
  one.kind =
      static_cast<Kind>(place_of(std::array<std::string_view, 4>{"address", "assert", "endless", "launch"}, kind));
  std::mt19937 random(seed);
  std::uint64_t const in_batch = place_of(std::array<std::string_view, 3>{"first", "middle", "last"}, place);
  std::uint64_t const middle = 1 + random() % 2;
  one.culprit = random() % (tiles / batch) * batch + (in_batch == 0 ? 0 : in_batch == 1 ? middle : batch - 1);
  one.options = {.tile = tile_of<float, float>(1 << 16), .producers = 1, .lanes = 1};
  one.options.tuning = {.tiles = tiles,
                        .batch = batch,
                        .slots = tiles,
                        .transport = Transport::copies,
                        .graphs = Graphs::never,
                        .patience = std::chrono::milliseconds(1000)};
  one.options.watching.hooks = {attribution()};
  switch (place_of(std::array<std::string_view, 4>{"calls", "graph", "mapped", "in_place"}, way)) {
    case 1:
      one.options.tuning.graphs = Graphs::always;
      break;
    case 2:
      one.options.tuning.transport = Transport::mapped;
      break;
    case 3:
      one.options.tile.in_place = true;
      break;
    default:
      break;
  }
  return one;
}

/// Returns true if the report names the tile: as the culprit, or where none was lost, as the one that failed.
bool names(Report const& report, Case const& one) {
  if (one.kind == Kind::launch) {
    return report.tiles_failed == 1 && report.first_failure && report.first_failure->sequence == one.culprit &&
           report.first_failure->failure.stage == "stage";
  }
  if (report.attribution == nullptr) return false;
  auto const& culprits = report.attribution->culprits;
  return culprits.size() == 1 && culprits.front().sequence == one.culprit && report.attribution->not_tried.empty();
}

}  // namespace

int main(int count, char** words) try {
  if (list_gpus().empty()) return std::printf("%s\n", gpu_sentence().c_str()), 77;
  if (count < 4) return std::fprintf(stderr, "penstock_late_error KIND PLACE WAY [SEED]\n"), 2;
  Case const one = case_of(words[1], words[2], words[3], count > 4 ? static_cast<unsigned>(std::atoi(words[4])) : 1);
  auto const device = open_device("cuda");
  Pipeline pipeline(*device, one.options);
  auto const fill = [&](TilePlace tile, std::span<float> input) {
    std::ranges::fill(input, tile.index == one.culprit ? Content::guilty : Content::innocent);
    return input.size();
  };
  auto const stage = on_device(
      [&](DeviceTileOf<float, float> tile, StreamRef stream) {
        unsigned const threads = one.kind == Kind::launch && tile.sequence == one.culprit ? 4096 : 256;
        work<<<1, threads, 0, cuda_stream(stream)>>>(tile.input.address(), tile.input.size(), tile.output.address(),
                                                     one.kind);
      },
      {.reads_once = true, .capturable = one.kind != Kind::launch});
  auto const began = std::chrono::steady_clock::now();
  Report const report = pipeline.run(generate(tiles, fill), stage, [](TileResult<float> const&) {});
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
  bool const right = names(report, one);
  std::printf("%-8s %-7s %-9s tile %2llu  %s after %.2f s, of which the run took %.2f s\n", words[1], words[2],
              words[3], static_cast<unsigned long long>(one.culprit), right ? "named" : "NOT NAMED", took.count(),
              std::chrono::duration<double>(report.wall).count());
  if (!right) std::printf("%s\n", describe(report).c_str());
  // The device keeps what it was given up with, so no destructor can wait for it.
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
