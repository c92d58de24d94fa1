// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/offers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace penstock {

Offers::Offers(double rate, std::optional<Limit> const& next)
    : rate_(rate), next_(next ? next->tiles_per_second : std::numeric_limits<double>::infinity()) {}

void Offers::option(std::string change, double reached, std::string why) {
  add(options_, std::move(change), std::min(reached, next_), std::move(why));
}

void Offers::whole(std::string change, double reached, std::string why) {
  add(options_, std::move(change), reached, std::move(why));
}

void Offers::work(std::string change, double reached, std::string why) {
  add(work_, std::move(change), std::min(reached, next_), std::move(why));
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

void Offers::add(std::vector<Advice>& list, std::string change, double reached, std::string why) const {
  constexpr double worth_saying = 1.05;
  double const gain = reached / rate_;
  if (std::isfinite(gain) && gain >= worth_saying) list.push_back({std::move(change), gain, std::move(why)});
}

}  // namespace penstock
