// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/trace_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace penstock {
namespace {

using Kind = RecordRow::Kind;

/// Ends of the passages on one drawn row that may still be in progress, the last to begin at the back.
using Open = std::vector<std::int64_t>;

/// What is drawn of a passage or a span.
struct Drawn {
  std::uint32_t row = 0;
  Interval when;
};

Drawn drawn_of(Recording const& recording, std::uint32_t number) {
  std::size_t const passages = recording.passages.size();
  if (number < passages) {
    Passage const& passage = recording.passages[number];
    return {passage.row, {passage.begin, passage.end}};
  }
  RecordedSpan const& span = recording.spans[number - passages];
  return {span.row, {span.begin, span.end}};
}

/// Adds the interval if there is room, and returns whether there is; `open` gets intervals in the order of their
/// beginnings.
bool take(Open& open, Interval when, bool may_nest) {
  while (!open.empty() && open.back() <= when.begin) open.pop_back();
  if (!open.empty() && (!may_nest || when.end > open.back())) return false;
  open.push_back(when.end);
  return true;
}

std::size_t place_in(std::vector<Open>& several, Interval when, bool may_nest) {
  for (std::size_t place = 0; place < several.size(); ++place) {
    if (take(several[place], when, may_nest)) return place;
  }
  several.push_back({when.end});
  return several.size() - 1;
}

std::vector<std::uint32_t> in_time_order(Recording const& recording) {
  std::size_t const passages = recording.passages.size(), all = passages + recording.spans.size();
  std::vector<std::uint32_t> order(all);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
    auto const key = [&](std::uint32_t number) {
      Interval const when = drawn_of(recording, number).when;
      // Of spans that are equally long the one that was noted later is the outer one; all are within their step.
      if (number >= passages) {
        return std::tuple(when.begin, -when.end, static_cast<Step>(step_count), std::uint64_t{all - number}, number);
      }
      Passage const& passage = recording.passages[number];
      return std::tuple(when.begin, -when.end, passage.step, passage.tile, number);
    };
    return key(one) < key(other);
  });
  return order;
}

}  // namespace

TraceRows trace_rows(Recording const& recording) {
  TraceRows drawn;
  drawn.order = in_time_order(recording);
  drawn.row_of.resize(drawn.order.size(), TraceRows::nowhere);

  std::vector<std::vector<Open>> open(recording.rows.size());
  for (std::uint32_t const number : drawn.order) {
    auto const [row, when] = drawn_of(recording, number);
    Kind const kind = recording.rows.at(row).kind;
    if (kind == Kind::queue) continue;
    drawn.row_of[number] = static_cast<std::uint32_t>(place_in(open[row], when, kind == Kind::thread));
  }

  std::vector<std::uint32_t> first(recording.rows.size());
  for (Kind const kind : {Kind::thread, Kind::stream}) {
    for (std::size_t row = 0; row < recording.rows.size(); ++row) {
      if (recording.rows[row].kind != kind) continue;
      first[row] = static_cast<std::uint32_t>(drawn.rows.size() + 1);
      for (std::size_t place = 0; place < open[row].size(); ++place) {
        std::string const more = place == 0 ? "" : " (" + std::to_string(place + 1) + ")";
        drawn.rows.push_back({static_cast<std::uint32_t>(drawn.rows.size() + 1), recording.rows[row].name + more});
      }
    }
  }
  for (std::uint32_t number = 0; number < drawn.row_of.size(); ++number) {
    std::uint32_t const row = drawn_of(recording, number).row;
    if (recording.rows[row].kind != Kind::queue) drawn.row_of[number] += first[row];
  }
  return drawn;
}

std::vector<EngineTimes> engine_times(Recording const& recording) {
  std::vector<std::string> engines;
  std::vector<std::size_t> engine_of_row;
  for (RecordRow const& row : recording.rows) {
    auto const known = std::find(engines.begin(), engines.end(), row.engine);
    engine_of_row.push_back(static_cast<std::size_t>(known - engines.begin()));
    if (known == engines.end()) engines.push_back(row.engine);
  }
  std::vector<std::vector<Interval>> work(engines.size());
  for (Passage const& passage : recording.passages) {
    work[engine_of_row.at(passage.row)].push_back({passage.begin, passage.end});
  }
  std::vector<EngineTimes> times;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    if (!engines[i].empty()) times.push_back({engines[i], Intervals(std::move(work[i]))});
  }
  return times;
}

}  // namespace penstock
