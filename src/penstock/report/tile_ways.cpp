// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/tile_ways.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>

namespace penstock {
namespace {

bool is_in_flight(Step step) {
  return step >= Step::enqueue && step <= Step::notice;
}

void extend(std::optional<Stretch>& whole, Stretch part) {
  if (!whole) whole = part;
  whole->begin = std::min(whole->begin, part.begin);
  whole->end = std::max(whole->end, part.end);
}

/// `way`: the passages of one tile by their numbers, in the order in which they began.
void add_way(Recording const& recording, std::span<std::uint32_t const> way, TileWays& ways) {
  std::optional<Stretch> in_flight, away;
  std::optional<std::uint32_t> previous;
  for (std::uint32_t const number : way) {
    Passage const& passage = recording.passages[number];
    Stretch const part{passage.begin, passage.end};
    if (is_in_flight(passage.step)) extend(in_flight, part);
    extend(away, passage.step == Step::borrow ? Stretch{passage.end, passage.end} : part);

    bool const drawn = part.end > part.begin && recording.rows.at(passage.row).kind != RecordRow::Kind::queue;
    if (!drawn) continue;
    if (previous) {
      WayPart& before = ways.parts[*previous];
      before = before == WayPart::none ? WayPart::first : WayPart::middle;
      ways.parts[number] = WayPart::last;
    }
    previous = number;
  }
  if (in_flight && in_flight->end > in_flight->begin) ways.in_flight.push_back(*in_flight);
  if (away && away->end > away->begin) ways.away.push_back(*away);
}

}  // namespace

TileWays tile_ways(Recording const& recording) {
  auto const& passages = recording.passages;
  std::vector<std::uint32_t> by_tile(passages.size());
  std::iota(by_tile.begin(), by_tile.end(), 0u);
  std::sort(by_tile.begin(), by_tile.end(), [&](std::uint32_t one, std::uint32_t other) {
    auto const key = [&](std::uint32_t number) {
      Passage const& passage = passages[number];
      return std::tuple(passage.tile, passage.begin, -passage.end, passage.step, number);
    };
    return key(one) < key(other);
  });

  TileWays ways;
  ways.parts.resize(passages.size(), WayPart::none);
  for (auto begin = by_tile.begin(); begin != by_tile.end();) {
    auto const end = std::find_if(begin, by_tile.end(),
                                  [&](std::uint32_t number) { return passages[number].tile != passages[*begin].tile; });
    add_way(recording, {begin, end}, ways);
    begin = end;
  }
  return ways;
}

double mean_in_flight(Recording const& recording) {
  auto const stays = tile_ways(recording).in_flight;
  if (stays.empty()) return 0;
  Intervals const any(stays);
  double sum = 0;
  for (Stretch const& stay : stays) sum += static_cast<double>(stay.end - stay.begin);
  std::int64_t const window = any.stretches().back().end - any.stretches().front().begin;
  return sum * static_cast<double>(recording.every) / static_cast<double>(window);
}

}  // namespace penstock
