// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/limits.hpp"

#include <algorithm>

namespace penstock {
namespace {

Limit limit_of(PartUse const& use) {
  bool const by_ceiling = use.ceiling && use.time.value_or(0) < use.share;
  return {use.likely(), part_text(use.part) + (by_ceiling ? " alone" : " without a pause")};
}

}  // namespace

std::string part_text(Bound part) {
  switch (part) {
    case Bound::upload:
      return "uploads";
    case Bound::download:
      return "downloads";
    case Bound::kernel:
      return "kernels";
    case Bound::fill:
      return "the source";
    case Bound::sink:
      return "the sink";
    case Bound::submission:
      return "submission";
    case Bound::completion:
      return "the lanes";
    default:
      return std::string(bound_name(part));
  }
}

std::optional<Limit> own_limit(Finding const& finding, Utilisation const& use) {
  PartUse const* const part = use.find(finding.bound);
  if (part == nullptr) return std::nullopt;
  if (part->ceiling && *part->ceiling >= use.rate) return Limit{*part->ceiling, part_text(part->part) + " alone"};
  return Limit{part->most, limit_of(*part).of};
}

std::optional<Limit> next_limit(Finding const& finding, Utilisation const& use) {
  bool const kernels = finding.turns == Turns::legacy_stream || finding.turns == Turns::one_lane;
  auto const is_bound = [&](Bound part) {
    bool const copies = finding.bound == Bound::upload || finding.bound == Bound::download;
    if (copies) return part == Bound::upload || part == Bound::download;
    if (kernels) return part == Bound::kernel;
    return part == (finding.turns == Turns::barrier ? Bound::submission : finding.bound);
  };
  std::optional<Limit> next;
  auto const consider = [&](Limit const& limit) {
    if (!next || limit.tiles_per_second < next->tiles_per_second) next = limit;
  };
  for (PartUse const& part : use.parts) {
    if (!is_bound(part.part)) consider(limit_of(part));
  }
  PartUse const* const kernel = use.find(Bound::kernel);
  if (kernels && kernel != nullptr) {
    // It is not known how many fit on the device at once, unless that was measured.
    consider(kernel->ceiling ? Limit{*kernel->ceiling, "kernels alone"} : limit_of(*kernel));
  }
  if (next) next->tiles_per_second = std::max(next->tiles_per_second, use.rate);
  return next;
}

}  // namespace penstock
