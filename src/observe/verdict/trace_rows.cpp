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

/// Adds the passage if there is room, and returns whether there is; `open` gets passages in the order of their
/// beginnings.
bool take(Open& open, Passage const& passage, bool may_nest) {
  while (!open.empty() && open.back() <= passage.begin) open.pop_back();
  if (!open.empty() && (!may_nest || passage.end > open.back())) return false;
  open.push_back(passage.end);
  return true;
}

std::size_t place_in(std::vector<Open>& several, Passage const& passage, bool may_nest) {
  for (std::size_t place = 0; place < several.size(); ++place) {
    if (take(several[place], passage, may_nest)) return place;
  }
  several.push_back({passage.end});
  return several.size() - 1;
}

std::vector<std::uint32_t> in_time_order(std::vector<Passage> const& passages) {
  std::vector<std::uint32_t> order(passages.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
    auto const key = [&](std::uint32_t number) {
      Passage const& passage = passages[number];
      return std::tuple(passage.begin, -passage.end, passage.step, passage.tile, number);
    };
    return key(one) < key(other);
  });
  return order;
}

}  // namespace

TraceRows trace_rows(Recording const& recording) {
  TraceRows drawn;
  drawn.order = in_time_order(recording.passages);
  drawn.row_of.resize(recording.passages.size(), TraceRows::nowhere);

  std::vector<std::vector<Open>> open(recording.rows.size());
  for (std::uint32_t const number : drawn.order) {
    Passage const& passage = recording.passages[number];
    Kind const kind = recording.rows.at(passage.row).kind;
    if (kind == Kind::queue) continue;
    drawn.row_of[number] = static_cast<std::uint32_t>(place_in(open[passage.row], passage, kind == Kind::thread));
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
  for (std::size_t number = 0; number < drawn.row_of.size(); ++number) {
    std::uint32_t const row = recording.passages[number].row;
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
