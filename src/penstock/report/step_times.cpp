// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/step_times.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "penstock/report/intervals.hpp"
#include "penstock/report/quantile.hpp"

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
  std::vector<std::vector<Stretch>> busy(recording.rows.size());
  std::vector<Stretch> all;
  for (Passage const& passage : recording.passages) {
    all.push_back({passage.begin, passage.end});
    bool const queue = recording.rows.at(passage.row).kind == RecordRow::Kind::queue;
    if (queue || !is_wait(passage.step)) busy[passage.row].push_back(all.back());
  }
  Intervals const seen(std::move(all));
  double const window =
      seen.empty() ? 0 : static_cast<double>(seen.stretches().back().end - seen.stretches().front().begin);

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

}  // namespace penstock
