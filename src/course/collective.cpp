// SPDX-License-Identifier: Apache-2.0
// Experiment: an all-reduce beside what devices compute.
#include "penstock/collective.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "course/experiment.hpp"
#include "course/workbench.hpp"
#include "kernels/basic/busy.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using std::chrono::nanoseconds;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// Each layer is a kernel, after which its part of the array is ready.
constexpr std::size_t layers = 32;
/// A multiple of this many floats has layers of whole cache lines.
constexpr std::size_t grain = layers * 64;
/// Duration of the collective, if the devices have the memory; the compute takes twice as long.
constexpr Milliseconds wanted{15};
/// Kernels that memory bounds in part are slower by a tenth, if a quarter of the multiprocessors is left free.
constexpr double slower = 1.1;
constexpr unsigned most_blocks = 16;

/// A way to combine compute and collective.
struct Strategy {
  std::string_view name;
  double text;        ///< Milliseconds, if the compute takes 30 and the collective 15.
  int text_hides;     ///< Percent of the collective that ran beside compute, by the text.
  std::size_t parts;  ///< Parts in which the array is reduced.
  bool at_the_end;    ///< The array is reduced when all is computed; else each part as soon as its layers are.
  bool leaves_free;   ///< A quarter of the multiprocessors is left free.
  bool urgent;        ///< The collective has the greatest priority, else the least, as compute has.
};

constexpr std::array ways{Strategy{"one after the other", 45, 0, 1, true, false, false},
                          Strategy{"beside it, no multiprocessor free", 42, 7, 8, false, false, false},
                          Strategy{"beside it, a quarter free", 35, 67, 8, false, true, true},
                          Strategy{"the same, layer by layer", 33, 100, layers, false, true, true}};
/// The second way with priority, of which the text has no time.
constexpr Strategy priority_alone{"no multiprocessor free, urgent", 0, 0, 8, false, false, true};

/// Three layers have too few blocks to fill a device, as small layers do.
constexpr bool is_small(std::size_t layer) {
  return layer == 8 || layer == 16 || layer == 24;
}

/// One device: an array, and a stream that computes it layer by layer.
class Rank {
 public:
  Rank(Device& device, std::size_t floats, float number)
      : device_(attached(device)),
        compute_(device.make_stream({.priority = device.info().least_priority})),
        stamp_(device.allocate(sizeof(Stamp))),
        array_(device.allocate(floats * sizeof(float))),
        floats_(floats),
        number_(number) {
    DeviceInfo const info = device.info();
    units_ = static_cast<std::uint32_t>(std::max(1, info.compute_units));
    per_unit_ = info.acts_as_gpu() ? 2 : 1;  // Blocks of 1024 threads for each.
    busy_prepare(compute_);
  }

  StreamRef compute() const noexcept { return compute_; }
  DeviceSpan<float> part(std::size_t part, std::size_t parts) const {
    std::size_t const count = floats_ / parts;
    return DeviceSpan<std::byte>(array_.bytes()).as<float>().subspan(part * count, count);
  }
  void fill() {
    device_.attach();
    std::vector<float> values(floats_);
    for (std::size_t i = 0; i < floats_; ++i) values[i] = static_cast<float>(i % 97) + number_;
    compute_.upload(array_.bytes(), std::as_bytes(std::span(values)));
    compute_.synchronize();
  }
  void compute_layer(std::size_t layer, nanoseconds time, bool leaves_free) {
    device_.attach();
    std::uint32_t const all = leaves_free ? std::max(1U, units_ - units_ / 4) : units_;
    busy(time, (is_small(layer) ? std::max(1U, units_ / 8) : all) * per_unit_,
         reinterpret_cast<Stamp*>(stamp_.bytes().data()), compute_);
  }
  void await() {
    device_.attach();
    compute_.synchronize();
  }
  /// Number of wrong sums over `ranks` ranks, among the first values of each layer.
  std::size_t wrong(std::size_t ranks) {
    device_.attach();
    std::size_t wrong = 0;
    auto const all = static_cast<float>(ranks);
    std::size_t const count = std::min<std::size_t>(floats_ / layers, looked_at);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      std::vector<float> found(count);
      compute_.download(std::as_writable_bytes(std::span(found)), part(layer, layers).first(count).as<std::byte>());
      compute_.synchronize();
      for (std::size_t i = 0; i < count; ++i) {
        auto const value = static_cast<float>((layer * (floats_ / layers) + i) % 97);
        if (found[i] != all * value + all * (all - 1) / 2) ++wrong;
      }
    }
    return wrong;
  }
  static constexpr std::size_t looked_at = 4096;

 private:
  static Device& attached(Device& device) {
    device.attach();
    return device;
  }

  Device& device_;
  Stream const compute_;
  DeviceMemory const stamp_;
  DeviceMemory const array_;
  std::size_t const floats_;
  float const number_;
  std::uint32_t units_ = 1;
  std::uint32_t per_unit_ = 1;
};

using Ranks = std::vector<std::unique_ptr<Rank>>;

Ranks ranks_of(DeviceGroup const& devices, std::size_t floats) {
  Ranks ranks;
  for (Device* const device : devices.all()) {
    ranks.push_back(std::make_unique<Rank>(*device, floats, static_cast<float>(ranks.size())));
  }
  return ranks;
}

void start(AllReduce<float>& reduce, Ranks const& ranks, std::size_t part, std::size_t parts) {
  std::vector<AllReduce<float>::Part> all;
  for (auto const& rank : ranks) all.push_back({rank->part(part, parts), rank->compute()});
  reduce.start(all);
}

Milliseconds alone(AllReduce<float>& reduce, Ranks const& ranks) {
  auto const begin = HostClock::now();
  start(reduce, ranks, 0, 1);
  reduce.wait();
  return HostClock::now() - begin;
}

Milliseconds together(Strategy const& way, AllReduce<float>& reduce, Ranks const& ranks, nanoseconds layer_time) {
  std::size_t const layers_of_part = layers / way.parts;
  auto const begin = HostClock::now();
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (auto const& rank : ranks) rank->compute_layer(layer, layer_time, way.leaves_free);
    if (!way.at_the_end && (layer + 1) % layers_of_part == 0) start(reduce, ranks, layer / layers_of_part, way.parts);
  }
  if (way.at_the_end) {
    for (auto const& rank : ranks) rank->await();
    start(reduce, ranks, 0, 1);
  }
  reduce.wait();
  for (auto const& rank : ranks) rank->await();
  return HostClock::now() - begin;
}

/// Size of the array, so that the collective takes as long as it should.
struct Amount {
  std::size_t floats;
  double stands_for;
};

constexpr std::size_t probed_floats = std::size_t{1} << 20;

Amount amount_for(DeviceGroup const& devices, AllReduceOptions options) {
  bool const modelled = devices.front().info().modelled;
  // This machine does a model's work for real, so a little has to stand for much.
  std::size_t const floats = modelled ? probed_floats / 4 : probed_floats;
  if (modelled) options.stands_for = 1000;
  Ranks const ranks = ranks_of(devices, floats);
  AllReduce<float> reduce(devices, ReduceOperation::sum, options);
  alone(reduce, ranks);
  double const more = wanted / std::min(alone(reduce, ranks), alone(reduce, ranks));
  if (modelled) return {floats, options.stands_for * more};
  std::size_t most = devices.front().info().kind == DeviceKind::cuda ? std::size_t{1} << 28 : std::size_t{1} << 24;
  for (Device* const device : devices.all()) {
    most = std::min(most, device->info().memory_free / 4 / sizeof(float));
  }
  auto const scaled = static_cast<std::size_t>(std::clamp(more, 0.01, 1e4) * static_cast<double>(floats));
  return {std::max<std::size_t>(1, std::min(scaled, most) / grain) * grain, 1};
}

/// `hidden` is the duration if all but the last part hides behind compute.
std::string bound_of(Strategy const& way, double measured, double hidden, bool gpu) {
  if (way.at_the_end) return "nothing runs beside the collective";
  if (measured > 1.1 * hidden) {
    if (way.leaves_free) return "the collective, which is slower beside compute";
    return std::string("the collective waits: kernels fill the ") + (gpu ? "multiprocessors" : "compute threads");
  }
  return "compute; the last of " + std::to_string(way.parts) + " parts comes behind it";
}

/// Percent of the collective that ran beside compute.
double part_hidden(Strategy const& way, double took, double computes, double collective) {
  if (way.at_the_end) return 0;  // Times of a busy machine may seem to say otherwise.
  return 100 * std::clamp(1 - (took - computes) / collective, 0.0, 1.0);
}

std::string percent(double part) {
  return std::to_string(std::lround(part)) + " %";
}

/// Real devices are not judged by it.
bool in_order(std::vector<Figure> const& seen) {
  return std::ranges::is_sorted(seen, [](Figure const& one, Figure const& next) { return one.value > next.value; });
}

Observation reduce_in_four_ways(Workbench& bench) {
  DeviceGroup const& devices = bench.devices();
  DeviceInfo const info = devices.front().info();
  AllReduceOptions patient{.blocks = most_blocks, .urgent = false};
  Amount const amount = amount_for(devices, patient);
  patient.stands_for = amount.stands_for;
  AllReduceOptions urgent = patient;
  urgent.urgent = true;
  Ranks const ranks = ranks_of(devices, amount.floats);
  AllReduce<float> patiently(devices, ReduceOperation::sum, patient), urgently(devices, ReduceOperation::sum, urgent);

  double const collective = std::min(alone(patiently, ranks), alone(patiently, ranks)).count();
  double const compute = 2 * collective;
  std::size_t wrong = 0;
  auto const try_out = [&](Strategy const& way) -> Figure {
    for (auto const& rank : ranks) rank->fill();
    double const computes = way.leaves_free ? slower * compute : compute;
    auto const layer = std::chrono::duration_cast<nanoseconds>(Milliseconds(computes / layers));
    double const took = together(way, way.urgent ? urgently : patiently, ranks, layer).count();
    for (auto const& rank : ranks) wrong += rank->wrong(ranks.size());
    double const hidden = computes + collective / static_cast<double>(way.parts);
    // A collective without room waits for a time that depends on when the kernels of compute end.
    bool const has_room = way.at_the_end || way.leaves_free, in_text = way.text > 0;
    return {.what = std::string(way.name),
            .value = took,
            .unit = "ms",
            .text = in_text ? std::optional(way.text * collective / wanted.count()) : std::nullopt,
            .possible = has_room ? std::optional(hidden) : std::nullopt,
            .bound = bound_of(way, took, hidden, info.acts_as_gpu()),
            .beside = {{"hides (text)", percent(part_hidden(way, took, computes, collective)) +
                                            (in_text ? " (" + percent(way.text_hides) + ")" : "")}}};
  };
  std::vector<Figure> ways_seen;
  std::string measured;
  for (Strategy const& way : ways) {
    ways_seen.push_back(try_out(way));
    char text[32];
    std::snprintf(text, sizeof text, ": %.1f ms", ways_seen.back().value);
    measured.append(measured.empty() ? "" : "; ").append(way.name).append(text);
  }
  bool const ordered = in_order(ways_seen);
  ways_seen.push_back(try_out(priority_alone));
  Observation seen;
  seen.figures = {{"times of the text, multiplied by", collective / wanted.count(), ""}};
  std::ranges::move(ways_seen, std::back_inserter(seen.figures));
  seen.figures.insert(
      seen.figures.end(),
      {{"devices", static_cast<double>(devices.size()), ""},
       {"compute alone", compute, "ms"},
       {"collective alone, " + urgently.how(), collective, "ms"},
       {"bytes of each array", static_cast<double>(amount.floats * sizeof(float)) * amount.stands_for / 1e6, "MB"}});
  seen.verdict = {wrong == 0 && (ordered || !info.modelled),
                  (wrong == 0 ? "all sums are right" : std::to_string(wrong) + " sums are wrong") + "; " + measured +
                      (ordered ? ", each faster than the one before" : ", in another order")};
  return seen;
}

}  // namespace

Experiment collective() {
  return {
      .name = "collective",
      .expectation =
          "An all-reduce of two devices hides behind their compute, if kernels leave it multiprocessors and it "
          "begins as soon as a part is ready. Its sums are right in each way.",
      .why =
          "Separate streams are not enough: kernels of a collective need room, which compute has to leave free "
          "(Tuning::spare, AllReduce). With room, compute: least priority; collective: greatest, stream of its own.",
      .claim = Claim::may,
      .run = reduce_in_four_ways,
      .devices = 2};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
