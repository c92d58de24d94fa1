// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/pace_probe.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <vector>

#include "engine/machine/cpu_set.hpp"
#include "engine/machine/host_limits.hpp"
#include "engine/machine/host_load.hpp"
#include "models/model_maker.hpp"
#include "models/models.hpp"
#include "penstock/error.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/pace.hpp"
#include "programs/measure/trial.hpp"

namespace penstock::measure {
namespace {

/// Points that are probed at most, and the time for all of them.
constexpr std::size_t most_probed = 6;
constexpr std::chrono::milliseconds time_for_all{700};
/// Tiles a second that no pipeline reaches on an H200.
constexpr double most_calls = 2e6;

/// Up to most_probed of them, the first and the last among these, at equal distances.
std::vector<Point> some_of(std::span<Point const> points) {
  std::vector<Point> some;
  std::size_t const count = std::min(points.size(), most_probed);
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(points[count == 1 ? 0 : i * (points.size() - 1) / (count - 1)]);
  return some;
}

/// Tiles a second that the links of these models could carry, or that their drivers could be asked for.
double most_of(std::vector<std::string> const& names, TileShape const& shape) {
  double sum = 0;
  for (std::string const& name : names) {
    auto const link = model_of(std::string_view(name).substr(model_prefix.size())).model.link;
    Direction const direction = direction_of(shape);
    double const rate = direction == Direction::both ? link.both : direction == Direction::in ? link.up : link.down;
    sum += std::min(most_calls, rate * 1e9 / static_cast<double>(std::max<std::size_t>(1, shape.largest_part())));
  }
  return sum;
}

}  // namespace

inline namespace PENSTOCK_FLAVOUR {
namespace {

std::optional<PaceProbe> probe(std::vector<std::string> const& names, Setting const& setting,
                               std::chrono::nanoseconds time, std::stop_token const& stop) {
  CpuSet const cpus = affinity_of_this_thread();
  auto const busy = static_cast<unsigned>(CgroupLimits::read().busy_threads(cpus.size()));
  std::vector<std::unique_ptr<Device>> opened;
  std::vector<Device*> all;
  // They are opened without the clock that they ask for.
  for (std::string const& name : names) {
    auto const made = model_maker()->find(name);
    auto const threads = std::max<unsigned>(1, busy / static_cast<unsigned>(names.size()));
    opened.push_back(made->open(static_cast<int>(opened.size()), threads, flavour()));
    all.push_back(opened.back().get());
  }
  HostLoad const load(cpus);
  timespec before{}, after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  auto const trial = run_trial(DeviceGroup(all), setting, {.warm_up = time / 4, .window = time}, stop);
  if (!trial) return std::nullopt;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  std::chrono::nanoseconds const own =
      std::chrono::seconds(after.tv_sec - before.tv_sec) + std::chrono::nanoseconds(after.tv_nsec - before.tv_nsec);
  double const others = std::chrono::duration<double>(load.of_others(busy, own)) / load.elapsed();
  double const used = trial->metered.seconds > 0 ? trial->metered.cpu_seconds / trial->metered.seconds : 0;
  return PaceProbe{.tiles_per_second = trial->metered.tiles_per_second(),
                   .most_per_second = most_of(names, setting.shape_of_tile()),
                   .busy_part_of_cpus = (used + others) / busy,
                   .part_of_others = others / busy};
}

}  // namespace

std::optional<unsigned> choose_factor(std::span<std::string const> wishes, std::span<Point const> points,
                                      std::stop_token const& stop) {
  unsigned most = least_factor;
  auto const some = some_of(points);
  for (Point const& point : some) {
    std::string const& wish = point.setting.device.empty() ? wishes.front() : point.setting.device;
    try {
      auto const probed = probe(names_in(wish), point.setting, time_for_all / some.size(), stop);
      if (!probed) return std::nullopt;
      most = std::max(most, factor_for(*probed));
    } catch (Error const& error) {
      // The measurement itself will say what is wrong with the point.
      if (error.kind() == ErrorKind::bad_argument) throw;
    }
  }
  return most;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
