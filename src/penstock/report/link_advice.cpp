// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/link_advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "penstock/report/number_text.hpp"
#include "penstock/report/option_text.hpp"
#include "penstock/report/way.hpp"

namespace penstock {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// Larger batches, as long as these are of use; else larger tiles.
void offer_larger_copies(Way const& way, Way const& other, RunFigures const& figures, Ceilings const& ceilings,
                         Utilisation const& use, Offers& offers) {
  constexpr double nearly = 1.05;
  constexpr double most_together = 64;
  if (!way.known() || way.bytes < figures.tile_bytes / 2 || way.set_up() < (nearly - 1) * way.moving()) return;
  double together = 2;
  while (together < most_together && way.most_with(together) * nearly < way.most_with(no_limit)) together *= 2;
  std::string const why = "Of the " + seconds_text(way.alone()) + " that " + size_option(std::round(way.bytes)) +
                          " take " + way.name + ", " + seconds_text(way.set_up()) + " are set-up.";
  unsigned const now = std::max(figures.batch, 1U);
  unsigned const batch = std::min(static_cast<unsigned>(together) * now, figures.usual_batch);
  if (batch >= 2 * now) {
    offers.whole(batch_text(figures, batch),
                 most_with_batches(static_cast<double>(batch) / now, figures, ceilings, use), why);
  } else {
    offers.option("--tile " + size_option(together * figures.tile_bytes),
                  std::min(way.most_with(together), other.most_with(together)), why);
  }
}

}  // namespace

void advise_on_link(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use,
                    Offers& offers) {
  Way way = way_up(figures, ceilings, use), other = way_down(figures, ceilings, use);
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
  offer_larger_copies(way, other, figures, ceilings, use, offers);
  bool const both = other.most() < 1.5 * way.most();
  offers.work(
      "half the bytes " + (both ? "each way" : way.name) + ": narrower types, or packed, for the stage to unpack",
      both ? 2 * std::min(way.most(), other.most()) : std::min(2 * way.most(), other.most()),
      "Copies are the bound, and half the bytes take half the time.");
}

}  // namespace penstock
