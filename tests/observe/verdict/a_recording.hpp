// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/observe/recording.hpp"

namespace penstock {

/// A recording by hand.
struct ARecording : Recording {
  std::uint32_t row(std::string name, RecordRow::Kind kind, std::string engine = {}) {
    rows.push_back({std::move(name), kind, std::move(engine)});
    return static_cast<std::uint32_t>(rows.size() - 1);
  }
  void put(std::uint64_t tile, std::uint32_t on, Step step, std::int64_t begin, std::int64_t end) {
    passages.push_back({tile, on, step, begin, end});
  }
  /// Spans of a row are put as they end.
  void span(std::string const& name, std::uint32_t on, std::int64_t begin, std::int64_t end,
            std::optional<std::uint64_t> tile = {}) {
    auto const known = std::ranges::find(span_names, name);
    auto const number = static_cast<std::uint32_t>(known - span_names.begin());
    if (known == span_names.end()) span_names.push_back(name);
    spans.push_back({number, on, tile, begin, end});
  }
};

/// A run of one producer and one lane with three streams, in which a tile sets out each microsecond and is on its way
/// for nine, in all steps but `host`.
inline ARecording orderly_run(std::uint64_t tiles) {
  ARecording run;
  auto const producer = run.row("ps-fill-0", RecordRow::Kind::thread),
             lane = run.row("ps-lane-0", RecordRow::Kind::thread),
             consumer = run.row("consumer", RecordRow::Kind::thread), inbox = run.row("inbox", RecordRow::Kind::queue),
             upload = run.row("upload", RecordRow::Kind::stream), compute = run.row("compute", RecordRow::Kind::stream),
             download = run.row("download", RecordRow::Kind::stream),
             notice = run.row("notice", RecordRow::Kind::queue), deliver = run.row("deliver", RecordRow::Kind::queue);
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    auto const start = static_cast<std::int64_t>(1000 * tile);
    run.put(tile, producer, Step::borrow, start, start + 200);
    run.put(tile, producer, Step::fill, start + 200, start + 1000);
    run.put(tile, inbox, Step::inbox, start + 1000, start + 2500);
    run.put(tile, lane, Step::enqueue, start + 2500, start + 3100);
    run.put(tile, upload, Step::upload, start + 2900, start + 3900);
    run.put(tile, compute, Step::stage, start + 3900, start + 4400);
    run.put(tile, download, Step::download, start + 4400, start + 5300);
    run.put(tile, notice, Step::notice, start + 5300, start + 7000);
    run.put(tile, deliver, Step::deliver, start + 7000, start + 8500);
    run.put(tile, consumer, Step::sink, start + 8500, start + 9000);
  }
  return run;
}

}  // namespace penstock
