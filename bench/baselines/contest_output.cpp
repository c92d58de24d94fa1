// SPDX-License-Identifier: Apache-2.0
#include "contest_output.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "engine/core/number_text.hpp"
#include "engine/machine/host_limits.hpp"
#include "engine/machine/topology.hpp"

namespace baselines {
namespace {

using penstock::size_text;
using penstock::measure::Spread;
using penstock::measure::spread_of;
using Json = nlohmann::ordered_json;

std::string number(char const* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string with_spread(char const* format, Spread const& spread, double factor) {
  return number(format, spread.median * factor) + " (" + number(format, spread.least * factor) + ".." +
         number(format, spread.most * factor) + ")";
}

std::string left(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string right(std::string const& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string line_of(std::array<std::string, 5> const& cells) {
  std::string line = left(cells[0], 30) + right(cells[1], 26) + right(cells[2], 15) + right(cells[3], 22);
  return line + (cells[4].empty() ? "" : "  " + cells[4]) + "\n";
}

Json json_of(Spread const& spread) {
  return {{"median", spread.median}, {"min", spread.least}, {"max", spread.most}};
}

}  // namespace

std::string contest_text(std::vector<SizeResult> const& results) {
  std::string text;
  for (SizeResult const& result : results) {
    std::string const& best = result.best_baseline().name;
    text += line_of({size_text(result.bytes) + " tiles", "thousand tiles/s", "CPU us a tile", "of the best baseline",
                     "best knobs"});
    std::string verdict;
    for (Standing const& standing : result.standings) {
      Spread const ratio = result.against_best(standing);
      text += line_of({standing.name, with_spread("%.2f", spread_of(standing.tiles_per_second), 1e-3),
                       number("%.1f", spread_of(standing.cpu_us_per_tile).median), number("%.2f", ratio.median),
                       standing.way.knobs});
      if (standing.penstock) {
        verdict += standing.name + ": " + with_spread("%.2f", ratio, 1) + " times the tiles of " + best + "\n";
      }
    }
    text += verdict + "\n";
  }
  return text;
}

std::string contest_json(std::vector<SizeResult> const& results, penstock::DeviceInfo const& device) {
  Json sizes = Json::array();
  for (SizeResult const& result : results) {
    Json standings = Json::array();
    for (Standing const& standing : result.standings) {
      standings.push_back(
          {{"name", standing.name},
           {"penstock", standing.penstock},
           {"knobs", standing.way.knobs},
           {"tiles_per_s", json_of(spread_of(standing.tiles_per_second))},
           {"cpu_us_per_tile", json_of(spread_of(standing.cpu_us_per_tile))},
           {"of_best_baseline", json_of(result.against_best(standing))},
           {"samples", {{"tiles_per_s", standing.tiles_per_second}, {"cpu_us_per_tile", standing.cpu_us_per_tile}}}});
    }
    sizes.push_back(
        {{"tile_bytes", result.bytes}, {"best_baseline", result.best_baseline().name}, {"standings", standings}});
  }
  Json const all = {
      {"kind", "baselines"},
      {"device", {{"name", device.name}, {"driver", device.driver}, {"runtime", device.runtime}}},
      {"machine",
       {{"cpu", penstock::HostLimits::read().cpu_model}, {"cpus", penstock::Topology::detect().cpus().size()}}},
      {"sizes", sizes}};
  return all.dump(2) + "\n";
}

}  // namespace baselines
