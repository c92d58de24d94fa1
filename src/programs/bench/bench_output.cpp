// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/bench_output.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "engine/core/number_text.hpp"
#include "observe/option_members.hpp"
#include "programs/bench/bench_warnings.hpp"
#include "programs/bench/enough_threads.hpp"
#include "programs/bench/producer_time.hpp"
#include "programs/bench/thread_counts.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/figures.hpp"

namespace penstock::cli {
namespace {

using measure::Axis;
using measure::PointResult;
using measure::Spread;

/// A point exceeds its ceiling if it reaches more than this part of it, as printed.
constexpr double above_ceiling = 1.005;

/// The verdict on the fastest point, and the bounds of all others in a word.
std::string verdict_text(std::span<Axis const> axes, std::span<PointResult const> results) {
  auto const best = best_of(results);
  if (!best || !results[*best].verdict) return "";
  PointResult const& result = results[*best];
  std::string text = "\nverdict";
  if (results.size() > 1) text += ", of the fastest: " + place_text(axes, result.point);
  text += "\n" + as_text(*result.verdict);
  constexpr double little = 0.05;
  if (double const part = judged_part(result); std::abs(1 - part) > little) {
    text += "Every tile of the run that was judged was recorded; it came to " + formatted("%.0f %%", 100 * part) +
            " of the others, and gains are times its own " +
            short_number(result.traced->tiles_per_second * bytes_per_tile(result) / 1e9) + " GB/s.\n";
  }
  return text;
}

}  // namespace

std::size_t processes_of(PointResult const& result) noexcept {
  return result.apart + (result.tiles_per_second.size() > result.apart ? 1 : 0);
}

double judged_part(PointResult const& result) {
  return result.traced->tiles_per_second / measure::spread_of(result.tiles_per_second).median;
}

std::optional<std::size_t> best_of(std::span<PointResult const> results, bool late_too) {
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    bool const measured = results[i].error.empty() && !results[i].tiles_per_second.empty();
    if (!measured || (!late_too && !results[i].judged_by_its_clock())) continue;
    double const rate = measure::spread_of(results[i].tiles_per_second).median * bytes_per_tile(results[i]);
    if (rate > most) best = i;
    most = std::max(most, rate);
  }
  return best;
}

namespace {

/// The part of its ceiling that a point reached.
std::optional<double> part_of_ceiling(PointResult const& result) {
  auto const ceiling = result.ceilings
                           ? lowest(*result.ceilings, measure::direction_of(result.point.setting.shape_of_tile()))
                           : std::nullopt;
  if (!ceiling || !result.judged_by_its_clock()) return std::nullopt;
  return measure::spread_of(result.tiles_per_second).median / *ceiling;
}

/// Percentages of tiles found by callback, by looking and by the watchdog: "81/19/0".
std::string found_text(PointResult const& result) {
  FoundTiles const found = result.last ? result.last->report.found() : FoundTiles{};
  if (found.all() == 0) return "-";
  auto const part = [&](std::uint64_t tiles) {
    return formatted("%.0f", 100 * static_cast<double>(tiles) / static_cast<double>(found.all()));
  };
  return part(found.by_callback) + "/" + part(found.by_look) + "/" + part(found.by_watchdog);
}

/// True if the ceiling of one of these leaves out the kernel because tiles were launched as graphs.
bool lacks_kernel(std::span<PointResult const> results) {
  return std::any_of(results.begin(), results.end(), [](PointResult const& result) {
    return result.ceilings && result.last && measure::mostly_graphs(result.last->report);
  });
}

/// Memory as the maximum over all points, and where the threads and pages of the last one were.
std::string memory_text(std::span<PointResult const> results) {
  std::uint64_t pinned = 0, device = 0;
  std::string placement;
  for (PointResult const& result : results) {
    if (!result.last) continue;
    pinned = std::max(pinned, result.last->pinned_bytes);
    device = std::max(device, result.last->device_bytes);
    placement = result.last->report.placement;
  }
  if (pinned + device == 0) return "";
  return "Memory: " + size_text(pinned) + " pinned and " + size_text(device) + " of the device at most.\n" + placement +
         (placement.empty() ? "" : "\n");
}

/// Removes the columns, from the second figure on, that are empty in all rows; returns the names of the others.
///
/// Shape: the first row has names, which differ.
std::set<std::string> drop_empty_columns(std::vector<std::vector<std::string>>& rows, std::size_t texts) {
  auto const empty = [&](std::size_t column) {
    return std::all_of(rows.begin() + 1, rows.end(),
                       [&](auto const& row) { return column >= row.size() || row[column].ends_with('-'); });
  };
  for (std::size_t column = rows[0].size(); --column > texts;) {
    if (!empty(column)) continue;
    for (auto& row : rows) {
      if (column < row.size()) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
  }
  return {rows[0].begin(), rows[0].end()};
}

/// A line on the digests: that of one point, or that those of all points agree.
std::string digests_text(std::span<PointResult const> results) {
  std::set<std::uint64_t> digests;
  std::size_t points = 0;
  for (PointResult const& result : results) {
    if (!result.digest || !result.error.empty()) continue;
    digests.insert(*result.digest);
    ++points;
  }
  if (points == 0) return "";
  if (points == 1) return "Results: digest " + measure::digest_text(*digests.begin()) + ".\n";
  return "Results: the same at " + std::to_string(points) + " points" +
         (digests.size() == 1 ? ", digest " + measure::digest_text(*digests.begin())
                              : " with the same options of the job") +
         ".\n";
}

}  // namespace

std::string as_text(BenchFacts const& facts, std::span<Axis const> axes, std::span<PointResult const> results) {
  std::string text =
      device_text(facts.device) + (facts.device.driver.empty() ? "" : ", driver " + facts.device.driver) + ", on " +
      facts.host.hostname + " (" + std::to_string(facts.cpus) + " CPUs), " + std::string(flavour_name(facts.flavour)) +
      " default streams, penstock " + facts.version + (facts.commit.empty() ? "" : " (" + facts.commit + ")") + "\n";
  std::string fixed, chosen;
  std::vector<std::vector<std::string>> rows(1);
  for (Axis const& axis : axes) {
    if (axis.swept()) {
      rows[0].push_back(axis.name);
    } else if (axis.values[0] != "0") {
      fixed += (fixed.empty() ? "" : ", ") + axis.name + " " + value_that_ran(axis, axis.values[0], results);
    } else if (std::string const ran = number_that_ran(axis, results); !ran.empty()) {
      chosen += (chosen.empty() ? "" : ", ") + axis.name + " " + ran;
    }
  }
  text += fixed + "\n" + (chosen.empty() ? "" : "chosen by the pipeline: " + chosen + "\n") +
          warnings_text(axes, results) + "\n";
  for (EnoughThreads const& answer : enough_threads(facts, axes, results)) text += answer.sentence + "\n";
  std::size_t const texts = rows[0].size();
  std::string const item = results.empty() ? "" : results.front().point.setting.its_job().item;
  if (!item.empty()) rows[0].push_back("k" + item + "s/s");
  for (char const* name : {"GB/s", "from", "to", "speed-up", "of ideal", "ktiles/s", "CPU s/GB", "p50 us", "p99 us",
                           "p99.9 us", "ceiling", "of it", "found %", "bound by"})
    rows[0].emplace_back(name);
  bool above = false;
  auto const speed_ups = speed_ups_of(axes, results);
  for (PointResult const& result : results) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].swept()) row.push_back(value_that_ran(axes[i], result.point.values[i], {&result, 1}));
    }
    if (!result.error.empty() || result.tiles_per_second.empty()) {
      row.emplace_back(result.error.empty() ? "not measured" : "failed");
      rows.push_back(row);
      continue;
    }
    double const bytes = bytes_per_tile(result);
    Spread const rate = measure::spread_of(result.tiles_per_second);
    Spread const cpu = measure::spread_of(result.cpu_s_per_tile);
    if (!item.empty()) row.push_back(result.last ? short_number(rate.median * result.last->items_per_tile / 1e3) : "-");
    for (double const value : {rate.median, rate.least, rate.most}) row.push_back(short_number(value * bytes / 1e9));
    auto const up = speed_ups.empty() ? std::nullopt : speed_ups[static_cast<std::size_t>(&result - results.data())];
    row.push_back(up ? formatted("%.2f", up->times) : "-");
    row.push_back(up ? formatted("%.0f %%", 100 * up->of_ideal) : "-");
    row.push_back(short_number(rate.median / 1e3));
    row.push_back(short_number(cpu.median / bytes * 1e9));
    auto const& latency = result.latency;
    for (std::optional<double> const value :
         {latency ? std::optional(latency->p50) : std::nullopt, latency ? std::optional(latency->p99) : std::nullopt,
          latency ? std::optional(latency->p999) : std::nullopt})
      row.push_back(value ? short_number(*value) : "-");
    auto const ceiling = result.ceilings
                             ? lowest(*result.ceilings, measure::direction_of(result.point.setting.shape_of_tile()))
                             : std::nullopt;
    row.push_back(ceiling ? short_number(*ceiling * bytes / 1e9) : "-");
    auto const part = part_of_ceiling(result);
    row.push_back(part ? formatted("%.0f %%", 100 * *part) : "-");
    above = above || part.value_or(0) > above_ceiling;
    row.push_back(found_text(result));
    row.push_back("  " + (!result.too_slow.empty() ? "not judged: late"
                          : result.verdict         ? std::string(bound_name(result.verdict->bound))
                                                   : std::string("-")));
    rows.push_back(row);
  }
  auto const shown = drop_empty_columns(rows, texts);
  text += text_table(rows, texts);
  bool const apart = std::any_of(results.begin(), results.end(), [](auto const& one) { return one.apart > 0; });
  bool const several = std::ranges::any_of(results, [](auto const& one) { return one.tiles_per_second.size() > 1; });
  text += std::string("\nGB/s: one direction; median, least and most of the runs") +
          (apart     ? ", each of them a process of its own"
           : several ? ", all in one process: others may stray further"
                     : "") +
          ".\n";
  if (shown.contains("speed-up")) {
    text += "Speed-up: against the fewest " + thread_axis(axes) +
            "; of ideal: the throughput of a thread, as a part of the most that one had at any point.\n" +
            producer_time_text(axes, results);
  }
  auto const with_latency =
      std::find_if(results.begin(), results.end(), [](PointResult const& one) { return one.latency.has_value(); });
  if (with_latency != results.end()) {
    text += "Latency: from when a tile was due to the sink, at " +
            formatted("%.0f %%", 100 * with_latency->latency->load_tiles_per_second /
                                     measure::spread_of(with_latency->tiles_per_second).median) +
            " of the tiles/s.\n";
  }
  if (shown.contains("ceiling")) {
    bool const kernel = std::ranges::any_of(
        results, [](PointResult const& one) { return one.ceilings && one.ceilings->kernel.has_value(); });
    text += std::string("Ceiling: the slowest of copies") + (kernel ? ", kernel and filling" : " and filling") +
            ", each alone, in the same run: filling by as many producers, the others in\nas many streams as " +
            (facts.device.acts_as_gpu() ? "keep the device busy" : "there are lanes") + ".\n" +
            (kernel ? "" : "It is without the stage, which was not measured alone.\n");
  }
  text += "Left out: opening devices, pinning memory, loading kernels, the first tiles of a run and its end.\n";
  if (shown.contains("found %")) {
    text +=
        "Found: how lanes learned that tiles of the last run were done, by callback, by looking, by the watchdog.\n";
  }
  if (lacks_kernel(results)) {
    text +=
        "Where most tiles were launched as graphs it is without the kernel, which alone is launched call by call.\n";
  }
  if (above) {
    text +=
        "Where a point has more than 100 % of it, parts came to less alone than together: something else was busy "
        "meanwhile, or\nthey stray. Take that ceiling for reached.\n";
  }
  text += memory_text(results) + digests_text(results);
  for (PointResult const& result : results) {
    std::string const where = place_text(axes, result.point);
    auto const add = [&](char const* what, std::string const& why) {
      text += what;
      if (!where.empty()) text.append(where).append(" - ");
      text.append(why).append("\n");
    };
    if (!result.error.empty()) add("failed: ", in_options(result.error));
    for (std::string const& remark : result.remarks) {
      if (remark != result.too_slow) add("note: ", remark);
    }
  }
  return text + verdict_text(axes, results);
}

}  // namespace penstock::cli
