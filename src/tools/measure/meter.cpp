// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/meter.hpp"

#include <algorithm>
#include <cstddef>

#include "penstock/core/quantile.hpp"
#include "penstock/machine/host_limits.hpp"

namespace penstock::measure {

void Meter::count() {
  std::uint64_t const number = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  State const state = state_.load(std::memory_order_acquire);
  if (state == State::closed) return;
  auto const now = Clock::now();
  if (state == State::before && take(State::before, State::opening)) {
    warm_from_ = now + warm_up_;
    state_.store(State::warming, std::memory_order_release);
  } else if (state == State::warming && now >= warm_from_ && (number > settling_ || now >= warm_from_ + longer_) &&
             take(State::warming, State::marking)) {
    opened_ = now;
    count_opened_ = number;
    cpu_opened_ = cpu_seconds();
    state_.store(State::open, std::memory_order_release);
  } else if (state == State::open && now >= opened_ + window_ && number > count_opened_ &&
             take(State::open, State::closing)) {
    // A thread that was held up since before the window opened leaves it to the next one, with a tile that came in it.
    metered_ = {.tiles = static_cast<double>(number - count_opened_),
                .seconds = std::chrono::duration<double>(now - opened_).count(),
                .cpu_seconds = cpu_seconds() - cpu_opened_,
                .opened = opened_,
                .closed = now};
    state_.store(State::closed, std::memory_order_release);
  }
}

std::optional<Metered> Meter::metered() const {
  if (!over()) return std::nullopt;
  return metered_;
}

double Spread::relative() const noexcept {
  return median > 0 ? std::max(most - median, median - least) / median : 0;
}

Spread spread_of(std::vector<double> values) {
  auto const [least, most] = std::minmax_element(values.begin(), values.end());
  return {median(values), *least, *most};
}

}  // namespace penstock::measure
