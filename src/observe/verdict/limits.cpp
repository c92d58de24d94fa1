// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "engine/plan/usual_sizes.hpp"

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
    case Bound::cpus:
      return "the CPUs";
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
    // The number of kernels that fit on the device at once is known only if it was measured.
    consider(kernel->ceiling ? Limit{*kernel->ceiling, "kernels alone"} : limit_of(*kernel));
  }
  if (next) next->tiles_per_second = std::max(next->tiles_per_second, use.rate);
  return next;
}

std::string option_text(char const* name, std::uint64_t value) {
  return std::string(name) + ' ' + std::to_string(value);
}

std::uint64_t tiles_for(RunFigures const& figures, std::uint64_t slots, unsigned batch) {
  return usual_tiles({.lanes = figures.lanes,
                      .slots = slots,
                      .batch = batch,
                      .producers = figures.producers,
                      .consumers = figures.consumers,
                      .tile_bytes = static_cast<std::size_t>(figures.pool_bytes)});
}

std::string slots_text(RunFigures const& figures, std::uint64_t slots, unsigned batch) {
  std::uint64_t const tiles = tiles_for(figures, slots, batch);
  std::string const pool = tiles > figures.pool ? ' ' + option_text("--tiles", tiles) : "";
  return option_text("--slots", slots) + pool;
}

std::string batch_text(RunFigures const& figures, unsigned batch) {
  std::uint64_t const slots = std::uint64_t{batches_in_flight} * batch;
  if (slots > figures.slots) return option_text("--batch", batch) + ' ' + slots_text(figures, slots, batch);
  std::uint64_t const tiles = tiles_for(figures, figures.slots, batch);
  bool const pool_short = figures.pool < std::uint64_t{2} * figures.lanes * batch && tiles > figures.pool;
  return option_text("--batch", batch) + (pool_short ? ' ' + option_text("--tiles", tiles) : "");
}

Offers::Offers(Finding const& finding, Utilisation const& use)
    : use_(use),
      next_(next_limit(finding, use).value_or(Limit{std::numeric_limits<double>::infinity(), {}}).tiles_per_second) {}

/// Promises 85 % of the gain that all bounds allow: this is accurate to a third, both for a change that reaches them
/// and for one that achieves six tenths of it.
double Offers::most_of(double reached) const {
  constexpr double most = 0.85;
  return 1 + most * (reached / use_.rate - 1);
}

void Offers::option(std::string change, double reached, std::string why) {
  add(options_, std::move(change), most_of(std::min({reached, next_, use_.cpus_most()})), std::move(why));
}

void Offers::whole(std::string change, double reached, double saved, std::string why) {
  add(options_, std::move(change), most_of(std::min(reached, use_.cpus_most(saved))), std::move(why));
}

void Offers::work(std::string change, double reached, std::string why) {
  add(work_, std::move(change), std::min(reached, next_) / use_.rate, std::move(why));
}

std::vector<Advice> Offers::best() const {
  constexpr std::size_t at_most = 2;
  auto const better = [](Advice const& one, Advice const& other) { return one.gain > other.gain; };
  std::vector<Advice> all = options_;
  all.insert(all.end(), work_.begin(), work_.end());
  auto const first_of_work = all.begin() + static_cast<std::ptrdiff_t>(options_.size());
  std::stable_sort(all.begin(), first_of_work, better);
  std::stable_sort(first_of_work, all.end(), better);
  if (all.size() > at_most) all.resize(at_most);
  return all;
}

void Offers::add(std::vector<Advice>& list, std::string change, double gain, std::string why) const {
  constexpr double worth_saying = 1.05;
  if (std::isfinite(gain) && gain >= worth_saying) list.push_back({std::move(change), gain, std::move(why)});
}

}  // namespace penstock
