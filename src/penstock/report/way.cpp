// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/way.hpp"

#include <algorithm>
#include <limits>

namespace penstock {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Of lanes that are busy for `share` of their time, part of it with giving tiles to the device.
double lanes_with(double times, PartUse const& lanes, RunFigures const& figures) {
  double const threads = std::max(figures.lanes, 1U);
  double const giving = std::min(lanes.share, figures.enqueue.value_or(0) / (figures.wall * threads));
  return lanes.most * lanes.share / (giving / times + lanes.share - giving);
}

}  // namespace

double Way::most() const {
  if (use == nullptr) return unbounded;
  return use->most;
}

double Way::moving() const {
  return std::min(alone(), bytes / *link);
}

double Way::set_up() const {
  double const undisturbed = one_way && *one_way > 0 ? std::min(alone(), 1 / *one_way) : alone();
  return std::max(0.0, undisturbed - moving());
}

double Way::most_with(double together) const {
  return known() ? most() * alone() / (alone() - set_up() + set_up() / together) : most();
}

Way way_up(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use) {
  return {"up", use.find(Bound::upload), ceilings.link_up, ceilings.run_upload(), figures.bytes_up};
}

Way way_down(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use) {
  return {"down", use.find(Bound::download), ceilings.link_down, ceilings.run_download(), figures.bytes_down};
}

double most_with_batches(double times, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use) {
  double most =
      std::min(way_up(figures, ceilings, use).most_with(times), way_down(figures, ceilings, use).most_with(times));
  for (PartUse const& part : use.parts) {
    if (part.part == Bound::upload || part.part == Bound::download) continue;
    bool const lanes = part.part == Bound::submission || part.part == Bound::completion;
    double const alone = part.part == Bound::kernel ? part.ceiling.value_or(part.most) : part.likely();
    most = std::min(most, lanes ? lanes_with(times, part, figures) : alone);
  }
  return most;
}

}  // namespace penstock
