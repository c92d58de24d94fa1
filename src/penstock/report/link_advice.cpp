// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/link_advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "penstock/report/number_text.hpp"

namespace penstock {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// One way of the link, and what is known of it.
struct Way {
  std::string name;
  PartUse const* use = nullptr;  ///< Null if nothing goes that way.
  std::optional<double> link = {};
  double bytes = 0;

  double most() const {
    if (use == nullptr) return infinite;
    return use->most;
  }
  bool known() const { return use != nullptr && use->ceiling && link && *link > 0; }
  /// Seconds that a copy takes alone, and those of them in which its bytes move; of a way that is known.
  double alone() const { return 1 / *use->ceiling; }
  double moving() const { return std::min(alone(), bytes / *link); }
  /// Tiles per second, if so many of them were one.
  double most_with(double together) const {
    return known() ? most() * alone() / ((alone() - moving()) / together + moving()) : most();
  }
};

void offer_larger_tiles(Way const& way, Way const& other, double tile_bytes, Offers& offers) {
  constexpr double nearly = 1.05;
  constexpr double most_together = 64;
  if (!way.known() || way.bytes < tile_bytes / 2 || way.alone() < nearly * way.moving()) return;
  double together = 2;
  while (together < most_together && way.most_with(together) * nearly < way.most_with(infinite)) together *= 2;
  offers.option("--tile " + size_option(together * tile_bytes),
                std::min(way.most_with(together), other.most_with(together)),
                "Of the " + seconds_text(way.alone()) + " that " + size_option(std::round(way.bytes)) + " take " +
                    way.name + ", " + seconds_text(way.alone() - way.moving()) + " are set-up.");
}

}  // namespace

void advise_on_link(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use,
                    Offers& offers) {
  Way way{"up", use.find(Bound::upload), ceilings.link_up, figures.bytes_up};
  Way other{"down", use.find(Bound::download), ceilings.link_down, figures.bytes_down};
  if (finding.bound == Bound::download) std::swap(way, other);

  if (way.use == nullptr) return;
  double const ceiling = way.use->ceiling.value_or(0);
  double const time = way.use->time.value_or(0);
  constexpr double far_slower = 1.25;
  if (ceiling > use.rate && time > far_slower * use.rate / ceiling) {
    offers.option("tiles and threads next to the device: without --no-bind; `penstock doctor` shows what the link does",
                  std::min(ceiling, other.most()),
                  "Copies " + way.name + " took " + percent_text(time) + " of the time for " +
                      percent_text(use.rate / ceiling) + " of what they reach alone.");
  }
  offer_larger_tiles(way, other, figures.tile_bytes, offers);
  bool const both = other.most() < 1.5 * way.most();
  offers.work(
      "half the bytes " + (both ? "each way" : way.name) + ": narrower types, or packed, for the stage to unpack",
      both ? 2 * std::min(way.most(), other.most()) : std::min(2 * way.most(), other.most()),
      "Copies are the bound, and half the bytes take half the time.");
}

}  // namespace penstock
