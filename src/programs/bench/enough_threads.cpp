// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/enough_threads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/core/number_text.hpp"
#include "penstock/report.hpp"
#include "programs/bench/producer_time.hpp"
#include "programs/bench/thread_counts.hpp"

namespace penstock::cli {
namespace {

using measure::PointResult;

/// Differs by less than repeated runs do.
constexpr double nearly_the_most = 0.95;

/// What the device does alone with such tiles, and the name of the part that bounds it.
struct DeviceCeiling {
  double tiles_per_second = 0;
  std::string of;
};

std::optional<DeviceCeiling> device_ceiling(PointResult const& point) {
  if (!point.ceilings) return std::nullopt;
  Ceilings device = *point.ceilings;
  device.fill.reset();
  auto const direction = measure::direction_of(point.point.setting.shape_of_tile());
  auto const all = lowest(device, direction);
  if (!all || *all <= 0) return std::nullopt;
  device.kernel.reset();
  bool const link = lowest(device, direction) == all;
  return DeviceCeiling{*all, link ? "the link" : "kernels"};
}

/// The number of producers that reaches the ceiling, if each more does as much as these do on average: that is a guess,
/// since threads are in each other's way.
unsigned reckoned_producers(unsigned producers, double rate, DeviceCeiling const& ceiling) {
  constexpr double most = 10'000;
  return static_cast<unsigned>(std::min(most, std::ceil(producers * ceiling.tiles_per_second / rate)));
}

/// "By reckoning about 24 would reach the 49.0 GB/s of the link", and why.
std::string reckoning_text(unsigned producers, PointResult const& point, DeviceCeiling const& ceiling,
                           BenchFacts const& facts) {
  double const bytes = measure::bytes_per_tile(point);
  std::string text = " By reckoning about " + std::to_string(producers) + " would reach the " +
                     rate_text(ceiling.tiles_per_second * bytes) + " of " + ceiling.of;
  if (auto const time = producer_time(point))
    text += ": a tile takes a producer " + seconds_text(time->all()) + ", " + seconds_text(time->fill) +
            " of that to fill it";
  text += ". That many were not measured";
  bool const modelled = facts.device.host_cpus > 0;
  std::size_t const cpus = modelled ? facts.device.host_cpus : facts.cpus;
  if (cpus > 0 && producers > cpus)
    text += std::string(", and ") + (modelled ? "the modelled machine" : "this machine") + " has " +
            count_text(cpus, "CPU");
  return text + ".";
}

std::string most_text(ThreadCurve const& curve) {
  if (curve.most_asked_for <= curve.threads(*curve.points.back())) return ", the most that were tried; ";
  return curve.interrupted ? ", the most that were measured before the sweep was interrupted; "
                           : ", the most that could be judged; ";
}

/// `one_device`: true if all points ran on the device of `facts`.
EnoughThreads answer_of(ThreadCurve const& curve, BenchFacts const& facts, bool one_device) {
  auto const rate = [&](PointResult const* point) { return ThreadCurve::rate(*point); };
  PointResult const& fastest = **std::ranges::max_element(curve.points, {}, rate);
  auto const first = std::ranges::find_if(
      curve.points, [&](PointResult const* one) { return rate(one) >= nearly_the_most * ThreadCurve::rate(fastest); });
  PointResult const& enough = **first;
  EnoughThreads answer{.count = curve.threads(enough),
                       .of_most = ThreadCurve::rate(enough) / ThreadCurve::rate(fastest),
                       .more_may_help = first + 1 == curve.points.end(),
                       .interrupted = curve.interrupted};
  // The CPU device computes on the CPUs that producers need.
  bool const may_reckon = curve.axis == "producers" && one_device && facts.device.acts_as_gpu();
  auto const ceiling = may_reckon ? device_ceiling(enough) : std::nullopt;
  std::string& text = answer.sentence;
  bool says_interrupted = false;
  auto const add_most = [&] {
    says_interrupted = curve.interrupted && curve.most_asked_for > curve.threads(*curve.points.back());
    text += most_text(curve);
  };
  text = "How many " + curve.axis + "? " + curve.place + std::to_string(answer.count);
  if (!answer.more_may_help) {
    text +=
        first == curve.points.begin() ? ", the fewest that were tried; more do not do more." : "; more do not do more.";
  } else if (ceiling && ThreadCurve::rate(enough) >= nearly_the_most * ceiling->tiles_per_second) {
    answer.more_may_help = false;
    add_most();
    text += "more do not do more, since they reach what " + ceiling->of + " alone " +
            (ceiling->of == "kernels" ? "do." : "does.");
  } else {
    add_most();
    text += "more may do more.";
    if (ceiling && (!enough.verdict || enough.verdict->bound == Bound::fill)) {
      answer.reckoned = reckoned_producers(answer.count, ThreadCurve::rate(enough), *ceiling);
      text += reckoning_text(*answer.reckoned, enough, *ceiling, facts);
    }
  }
  if (&enough != &fastest)
    text += " It does " + std::to_string(std::lround(100 * answer.of_most)) + " % of the most, which " +
            std::to_string(curve.threads(fastest)) + " did.";
  if (enough.verdict)
    text += " With " + std::to_string(answer.count) +
            " it is bound by: " + std::string(bound_name(enough.verdict->bound)) + ".";
  if (answer.interrupted && !says_interrupted) text += " The sweep was interrupted: not all numbers were measured.";
  return answer;
}

}  // namespace

std::vector<EnoughThreads> enough_threads(BenchFacts const& facts, std::span<measure::Axis const> axes,
                                          std::span<PointResult const> results) {
  std::vector<EnoughThreads> answers;
  bool const one_device =
      std::ranges::none_of(axes, [](measure::Axis const& axis) { return axis.name == "device" && axis.swept(); });
  for (ThreadCurve const& curve : thread_curves(axes, results))
    if (curve.points.size() > 1) answers.push_back(answer_of(curve, facts, one_device));
  return answers;
}

}  // namespace penstock::cli
