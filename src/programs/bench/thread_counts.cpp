// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/thread_counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "engine/core/number_text.hpp"
#include "observe/option_table.hpp"
#include "penstock/report.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using measure::Axis;
using measure::PointResult;

constexpr std::array<std::string_view, 3> thread_axes{"producers", "lanes", "consumers"};

std::size_t place_of(std::span<Axis const> axes, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(axes, name, &Axis::name) - axes.begin());
}

unsigned threads_of(std::string_view axis, PointResult const& result) {
  PipelineOptions const& options = result.last->options;
  return axis == "producers" ? options.producers : axis == "lanes" ? options.lanes : options.consumers;
}

/// True if both points have the same values on all axes but one.
bool beside(PointResult const& one, PointResult const& other, std::size_t axis) {
  for (std::size_t i = 0; i < one.point.values.size(); ++i) {
    if (i != axis && one.point.values[i] != other.point.values[i]) return false;
  }
  return true;
}

double rate_of(PointResult const& result) {
  return measure::spread_of(result.tiles_per_second).median;
}

bool counts(PointResult const& result) {
  return result.last && result.judged_by_its_clock();
}

/// What else was swept, as "tile 64KiB: "; empty if nothing was.
std::string place_beside(std::span<Axis const> axes, std::size_t place, PointResult const& result) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i == place || !axes[i].swept()) continue;
    text += (text.empty() ? "" : ", ") + axes[i].name + " " + axis_value_text(axes[i].name, result.point.values[i]);
  }
  return text.empty() ? "" : text + ": ";
}

/// Differs by less than repeated runs do.
constexpr double nearly_the_most = 0.95;

/// Shape: the points differ in their numbers of threads alone, which grow.
EnoughThreads answer_of(std::string const& name, std::string const& place, std::span<PointResult const* const> points) {
  auto const less = [](PointResult const* one, PointResult const* other) { return rate_of(*one) < rate_of(*other); };
  PointResult const& fastest = **std::ranges::max_element(points, less);
  auto const first = std::ranges::find_if(
      points, [&](PointResult const* one) { return rate_of(*one) >= nearly_the_most * rate_of(fastest); });
  PointResult const& enough = **first;
  EnoughThreads answer{.count = threads_of(name, enough),
                       .of_most = rate_of(enough) / rate_of(fastest),
                       .more_may_help = first + 1 == points.end(),
                       .sentence = {}};
  std::string const bound = enough.verdict ? std::string(bound_name(enough.verdict->bound)) : "";
  std::string& text = answer.sentence;
  text = "How many " + name + "? " + place + std::to_string(answer.count);
  if (answer.more_may_help) {
    text += ", the most that were tried; more may do more.";
  } else if (first == points.begin()) {
    text += ", the fewest that were tried; more do not do more.";
  } else {
    text += "; more do not do more.";
  }
  if (&enough != &fastest)
    text += " It does " + std::to_string(std::lround(100 * answer.of_most)) + " % of the most, which " +
            std::to_string(threads_of(name, fastest)) + " did.";
  if (!bound.empty()) text += " With " + std::to_string(answer.count) + " it is bound by: " + bound + ".";
  return answer;
}

}  // namespace

std::string number_that_ran(Axis const& axis, std::span<PointResult const> results) {
  OptionRow const* const row = find_option(axis.name);
  if (row == nullptr || row->kind != OptionKind::count) return {};
  std::string least, most;
  for (PointResult const& result : results) {
    if (!result.last) continue;
    std::string const ran = row->text(result.last->options);
    if (ran == "0") continue;
    auto const less = [](std::string const& one, std::string const& other) {
      return one.size() != other.size() ? one.size() < other.size() : one < other;
    };
    if (least.empty() || less(ran, least)) least = ran;
    if (most.empty() || less(most, ran)) most = ran;
  }
  return least + (most != least ? " to " + most : "");
}

std::string value_that_ran(Axis const& axis, std::string const& value, std::span<PointResult const> results) {
  std::string const ran = number_that_ran(axis, results);
  return axis_value_text(axis.name, value) + (ran.empty() || ran == value ? "" : " (" + ran + " ran)");
}

std::string thread_axis(std::span<Axis const> axes) {
  std::string found;
  for (Axis const& axis : axes) {
    if (!axis.swept() || std::ranges::find(thread_axes, axis.name) == thread_axes.end()) continue;
    if (!found.empty()) return {};
    found = axis.name;
  }
  return found;
}

std::vector<std::optional<SpeedUp>> speed_ups_of(std::span<Axis const> axes, std::span<PointResult const> results) {
  std::string const name = thread_axis(axes);
  if (name.empty()) return {};
  std::size_t const place = place_of(axes, name);
  std::vector<std::optional<SpeedUp>> all(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!counts(results[i])) continue;
    PointResult const* fewest = &results[i];
    for (PointResult const& other : results) {
      if (counts(other) && beside(results[i], other, place) && threads_of(name, other) < threads_of(name, *fewest))
        fewest = &other;
    }
    if (threads_of(name, *fewest) == 0 || rate_of(*fewest) <= 0) continue;
    double const times = rate_of(results[i]) / rate_of(*fewest);
    all[i] = SpeedUp{times, times * threads_of(name, *fewest) / threads_of(name, results[i])};
  }
  return all;
}

std::vector<EnoughThreads> enough_threads(std::span<Axis const> axes, std::span<PointResult const> results) {
  std::string const name = thread_axis(axes);
  std::vector<EnoughThreads> answers;
  if (name.empty()) return answers;
  std::size_t const place = place_of(axes, name);
  for (std::size_t i = 0; i < results.size(); ++i) {
    bool const first = std::none_of(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](PointResult const& one) { return beside(one, results[i], place); });
    if (!first) continue;
    std::vector<PointResult const*> points;
    for (PointResult const& other : results)
      if (counts(other) && rate_of(other) > 0 && beside(results[i], other, place)) points.push_back(&other);
    if (points.size() < 2) continue;
    std::ranges::stable_sort(points, {}, [&](PointResult const* one) { return threads_of(name, *one); });
    answers.push_back(answer_of(name, place_beside(axes, place, results[i]), points));
  }
  return answers;
}

}  // namespace penstock::cli
