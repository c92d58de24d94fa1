// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/passages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/core/quantile.hpp"

namespace penstock {
namespace {

bool is_wait(Step step) {
  return step == Step::borrow || step == Step::inbox || step == Step::notice || step == Step::deliver;
}

StepTimes times_of(Step step, std::span<std::int64_t> lengths) {
  StepTimes times{.step = step, .passages = lengths.size()};
  std::int64_t total = 0;
  for (std::int64_t const length : lengths) total += length;
  times.total = std::chrono::nanoseconds(total);
  times.mean = std::chrono::nanoseconds(total / static_cast<std::int64_t>(lengths.size()));
  times.p50 = std::chrono::nanoseconds(quantile(lengths, 0.5));
  times.p99 = std::chrono::nanoseconds(quantile(lengths, 0.99));
  times.most = std::chrono::nanoseconds(quantile(lengths, 1));
  return times;
}

bool is_in_flight(Step step) {
  return step >= Step::enqueue && step <= Step::notice;
}

void extend(std::optional<Interval>& whole, Interval part) {
  if (!whole) whole = part;
  whole->begin = std::min(whole->begin, part.begin);
  whole->end = std::max(whole->end, part.end);
}

/// `way`: indices of one tile's passages, in the order in which they began.
void add_way(Recording const& recording, std::span<std::uint32_t const> way, TileWays& ways) {
  std::optional<Interval> in_flight, away;
  std::optional<std::uint32_t> previous;
  for (std::uint32_t const number : way) {
    Passage const& passage = recording.passages[number];
    Interval const part{passage.begin, passage.end};
    if (is_in_flight(passage.step)) extend(in_flight, part);
    extend(away, passage.step == Step::borrow ? Interval{passage.end, passage.end} : part);

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

Recording without_passages(Recording const& recording) {
  return {.rows = recording.rows,
          .passages = {},
          .every = recording.every,
          .missed = recording.missed,
          .span_names = recording.span_names,
          .spans_missed = recording.spans_missed};
}

Recording touching(Recording const& recording, std::int64_t from, std::int64_t to) {
  Recording some = without_passages(recording);
  auto const touches = [&](auto const& part) { return part.begin < to && part.end > from; };
  std::ranges::copy_if(recording.passages, std::back_inserter(some.passages), touches);
  std::ranges::copy_if(recording.spans, std::back_inserter(some.spans), touches);
  return some;
}

}  // namespace

std::vector<StepTimes> step_times(Recording const& recording) {
  std::array<std::vector<std::int64_t>, step_count> lengths;
  for (Passage const& passage : recording.passages) {
    lengths[static_cast<std::size_t>(passage.step)].push_back(passage.end - passage.begin);
  }
  std::vector<StepTimes> all;
  for (std::size_t step = 0; step < step_count; ++step) {
    if (!lengths[step].empty()) all.push_back(times_of(static_cast<Step>(step), lengths[step]));
  }
  return all;
}

std::vector<RowTimes> row_times(Recording const& recording) {
  std::vector<std::vector<Interval>> busy(recording.rows.size());
  std::vector<Interval> all;
  for (Passage const& passage : recording.passages) {
    all.push_back({passage.begin, passage.end});
    bool const queue = recording.rows.at(passage.row).kind == RecordRow::Kind::queue;
    if (queue || !is_wait(passage.step)) busy[passage.row].push_back(all.back());
  }
  Intervals const seen(std::move(all));
  double const window = seen.empty() ? 0 : static_cast<double>(seen.all().back().end - seen.all().front().begin);

  std::vector<RowTimes> rows;
  for (std::size_t row = 0; row < busy.size(); ++row) {
    std::int64_t const length = Intervals(std::move(busy[row])).length();
    rows.push_back({.name = recording.rows[row].name,
                    .kind = recording.rows[row].kind,
                    .busy = std::chrono::nanoseconds(length),
                    .share = window > 0 ? static_cast<double>(length) / window : 0});
  }
  return rows;
}

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
  for (Interval const& stay : stays) sum += static_cast<double>(stay.end - stay.begin);
  std::int64_t const window = any.all().back().end - any.all().front().begin;
  return sum * static_cast<double>(recording.every) / static_cast<double>(window);
}

std::chrono::nanoseconds at_work_meanwhile(Recording const& recording) {
  std::vector<std::vector<Interval>> of_row(recording.rows.size());
  std::unordered_map<std::uint64_t, Passage const*> of_tile;
  for (Passage const& passage : recording.passages) {
    if (passage.step != Step::enqueue) continue;
    of_row[passage.row].push_back({passage.begin, passage.end});
    of_tile.emplace(passage.tile, &passage);
  }
  // The tiles of a batch share its time as adjacent parts: together they form an interval.
  std::vector<Intervals> calls;
  for (auto& intervals : of_row) calls.emplace_back(std::move(intervals));

  std::int64_t uploading = 0, computing = 0;
  for (Passage const& passage : recording.passages) {
    if (passage.step != Step::upload && passage.step != Step::stage) continue;
    auto const found = of_tile.find(passage.tile);
    if (found == of_tile.end()) continue;
    auto const& intervals = calls[found->second->row].all();
    auto const call = std::upper_bound(intervals.begin(), intervals.end(), found->second->begin,
                                       [](std::int64_t time, Interval const& one) { return time < one.end; });
    if (call == intervals.end()) continue;
    std::int64_t const both = std::min(passage.end, call->end) - std::max(passage.begin, call->begin);
    (passage.step == Step::upload ? uploading : computing) += std::max<std::int64_t>(both, 0);
  }
  return std::chrono::nanoseconds(std::max(uploading, computing) * static_cast<std::int64_t>(recording.every));
}

Recording within(Recording const& recording, std::int64_t from, std::int64_t to) {
  Recording cut = touching(recording, from, to);
  auto const shorten = [&](auto& part) {
    part.begin = std::max(part.begin, from);
    part.end = std::min(part.end, to);
  };
  std::ranges::for_each(cut.passages, shorten);
  std::ranges::for_each(cut.spans, shorten);
  cut.cut_from = from;
  cut.cut_to = to;
  return cut;
}

Recording middle_of(Recording const& recording, std::size_t most) {
  auto const parts_of = [](Recording const& one) { return one.passages.size() + one.spans.size(); };
  if (parts_of(recording) <= most) return recording;
  std::vector<std::int64_t> begins;
  begins.reserve(parts_of(recording));
  for (Passage const& passage : recording.passages) begins.push_back(passage.begin);
  for (RecordedSpan const& span : recording.spans) begins.push_back(span.begin);
  std::sort(begins.begin(), begins.end());
  // Passages that began before and reach into it add to their number: shorten it until they fit.
  for (std::size_t half = most / 2; half > 0; half = half * 3 / 4) {
    std::size_t const middle = begins.size() / 2;
    Recording some = touching(recording, begins[middle - half], begins[middle + half - 1]);
    if (parts_of(some) <= most) return some;
  }
  return without_passages(recording);
}

}  // namespace penstock
