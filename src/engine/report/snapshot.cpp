// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/core/number_text.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

/// Sum over lanes, or over devices.
template <class Parts, class Part>
std::uint64_t sum(Parts const& parts, Part part) noexcept {
  std::uint64_t all = 0;
  for (auto const& one : parts) all += part(one);
  return all;
}

/// The part that a run waits for: the one with the most tiles, or the source if it could have another tile.
char const* waits_for(Snapshot const& now) noexcept {
  std::uint64_t at_lanes = now.in_flight();
  for (LaneSnapshot const& lane : now.lanes) at_lanes += lane.waiting;
  std::uint64_t const under_way = now.under_way();
  std::uint64_t const at_sink = under_way > at_lanes ? under_way - at_lanes : 0;
  std::uint64_t const at_source = now.pool.lent > under_way ? now.pool.lent - under_way : 0;
  if (now.pool.home > 0 || (at_source >= at_lanes && at_source >= at_sink)) return "the source";
  return at_sink > at_lanes ? "the sink" : "the device";
}

}  // namespace

FoundTiles& FoundTiles::operator+=(FoundTiles const& other) noexcept {
  by_callback += other.by_callback;
  by_look += other.by_look;
  by_watchdog += other.by_watchdog;
  return *this;
}

std::string describe(FoundTiles const& found) {
  if (found.all() == 0) return {};
  auto const part = [&](std::uint64_t tiles) {
    return percent_text(static_cast<double>(tiles) / static_cast<double>(found.all()));
  };
  return part(found.by_callback) + " by callback, " + part(found.by_look) + " by looking, " + part(found.by_watchdog) +
         " by the watchdog";
}

std::uint64_t Snapshot::in_flight() const noexcept {
  return sum(lanes, [](LaneSnapshot const& lane) { return lane.in_flight(); });
}
std::uint64_t Snapshot::bytes_up() const noexcept {
  return sum(lanes, [](LaneSnapshot const& lane) { return lane.bytes_up; });
}
std::uint64_t Snapshot::bytes_down() const noexcept {
  return sum(lanes, [](LaneSnapshot const& lane) { return lane.bytes_down; });
}
FoundTiles Snapshot::found() const noexcept {
  FoundTiles all;
  for (LaneSnapshot const& lane : lanes) all += lane.found;
  return all;
}

std::optional<Rates> rates(Snapshot const& earlier, Snapshot const& later) {
  bool const same = earlier.running && later.running && earlier.run == later.run && earlier.at < later.at;
  if (!same || earlier.devices.size() != later.devices.size()) return std::nullopt;
  double const seconds = std::chrono::duration<double>(later.at - earlier.at).count();
  auto const rate = [&](std::uint64_t before, std::uint64_t now) {
    return static_cast<double>(now - before) / seconds;
  };
  Rates all{.seconds = seconds,
            .submitted = rate(earlier.submitted, later.submitted),
            .done = rate(earlier.done, later.done),
            .failed = rate(earlier.failed, later.failed),
            .bytes_up = rate(earlier.bytes_up(), later.bytes_up()),
            .bytes_down = rate(earlier.bytes_down(), later.bytes_down())};
  for (std::size_t i = 0; i < later.devices.size(); ++i) {
    all.devices.push_back(rate(earlier.devices[i].done, later.devices[i].done));
  }
  FoundTiles const before = earlier.found(), now = later.found();
  all.found = {.by_callback = now.by_callback - before.by_callback,
               .by_look = now.by_look - before.by_look,
               .by_watchdog = now.by_watchdog - before.by_watchdog};
  return all;
}

std::string describe(Snapshot const& snapshot) {
  if (!snapshot.running) return "no run goes on";
  auto const count = [](std::uint64_t tiles, char const* what) { return std::to_string(tiles) + what; };
  std::string text = count_text(snapshot.submitted, "tile") + " submitted, " + count(snapshot.done, " done, ") +
                     count(snapshot.failed, " failed, ") + count(snapshot.cancelled, " cancelled; ") +
                     count(snapshot.in_flight(), " on devices; ") + count(snapshot.pool.lent, " lent, ") +
                     count(snapshot.pool.home, " home");
  if (std::string const found = describe(snapshot.found()); !found.empty()) text += "; found " + found;
  return text;
}

std::string live_line(Snapshot const& earlier, Snapshot const& later) {
  if (!later.running) return "no run goes on";
  std::string text;
  if (auto const between = rates(earlier, later)) {
    text = rate_text(between->bytes_up) + " in, " + std::to_string(std::llround(between->done)) + " tiles/s; ";
  }
  if (later.failed > 0) text += std::to_string(later.failed) + " failed; ";
  if (later.sink_failures > 0) text += "the sink threw on " + std::to_string(later.sink_failures) + "; ";
  text += std::to_string(later.pool.lent) + " of " + count_text(later.pool.tiles, "tile") + " lent; waits for ";
  return text + waits_for(later);
}

}  // namespace penstock
