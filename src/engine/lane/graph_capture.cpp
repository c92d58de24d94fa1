// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/graph_capture.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/failure_text.hpp"
#include "penstock/clock.hpp"

namespace penstock {

GraphChoice::GraphChoice(Graphs asked) noexcept
    : phase_(asked == Graphs::automatic ? Phase::warm_up
             : asked == Graphs::always  ? Phase::launch
                                        : Phase::run) {}

void GraphChoice::ran(std::chrono::nanoseconds took) noexcept {
  if (phase_ == Phase::warm_up) {
    if (++seen_ < warm_up) return;
    phase_ = Phase::try_runs;
    seen_ = 0;
  } else if (phase_ == Phase::try_runs) {
    runs_[seen_] = took;
    if (++seen_ < samples) return;
    phase_ = Phase::try_launches;
    seen_ = 0;
  }
}

void GraphChoice::launched(std::chrono::nanoseconds took) noexcept {
  if (phase_ != Phase::try_launches) return;
  launches_[seen_] = took;
  if (++seen_ == samples) decide();
}

void GraphChoice::decide() noexcept {
  phase_ = median(launches_) < median(runs_) ? Phase::launch : Phase::run;
}

/// Among that many times a single one that was delayed has no effect.
std::chrono::nanoseconds GraphChoice::median(Times& times) noexcept {
  auto const middle = times.begin() + samples / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void GraphCapture::prepare(Stage const& stage) {
  if (asked_ != Graphs::never && stage.promises().capturable)
    stream_.emplace(device_.make_stream({.priority = priority_}));
}

std::size_t GraphCapture::run(Stage& stage, DeviceTile const& tile, SlotGraph& slot) {
  if (!stream_) return stage.run(tile, compute_);
  if (!choice_.launches()) return run_plainly(stage, tile);
  TileWork work{.filled = tile.input.size(), .variant = stage.variant(tile)};
  for (std::size_t i = 0; i < work.more_filled.size(); ++i) work.more_filled[i] = tile.more_inputs[i].size();
  if (slot.captured && slot.work == work) {
    slot.others = 0;
    return launch(slot);
  }
  if (wants_capture(slot, work)) {
    if (auto const produced = run_captured(stage, tile, work, slot)) return *produced;
  }
  return stage.run(tile, compute_);
}

bool GraphCapture::wants_capture(SlotGraph& slot, TileWork work) const noexcept {
  if (!slot.captured) return choice_.captures();
  slot.others = slot.other == work ? slot.others + 1 : 1;
  slot.other = work;
  return slot.others >> std::min(slot.captures - 1, 31U) >= worth_another;
}

std::size_t GraphCapture::run_plainly(Stage& stage, DeviceTile const& tile) {
  if (!choice_.times_runs()) return stage.run(tile, compute_);
  auto const start = Clock::now();
  std::size_t const produced = stage.run(tile, compute_);
  choice_.ran(Clock::now() - start);
  return produced;
}

std::size_t GraphCapture::launch(SlotGraph const& slot) {
  if (choice_.times_launches()) {
    auto const start = Clock::now();
    compute_.launch(*slot.captured);
    choice_.launched(Clock::now() - start);
  } else {
    compute_.launch(*slot.captured);
  }
  ++launched_;
  return slot.produced;
}

/// Returns nothing if the tile has yet to be run.
std::optional<std::size_t> GraphCapture::run_captured(Stage& stage, DeviceTile const& tile, TileWork work,
                                                      SlotGraph& slot) {
  bool const first = !slot.captured;
  auto graph = capture(stage, tile, work);
  if (!graph) return std::nullopt;
  if (graph->captured->operations() == 0) {
    give_up(std::make_shared<Failure const>(
        Failure{"stage", "It enqueued nothing in the stream that it was given.", ErrorKind::bad_argument}));
    // If it has any work, the work is under way in another stream: a second run would do it twice.
    return graph->produced;
  }
  graph->captures = slot.captures + 1;
  slot = std::move(*graph);
  if (first) choice_.captured();
  // This is no call of `launch`, since a first launch takes longer than others.
  compute_.launch(*slot.captured);
  ++launched_;
  return slot.produced;
}

/// Has the stage enqueue its work where it is not executed. Nothing if that fails, for any reason.
///
/// Throws: a sticky Error.
std::optional<SlotGraph> GraphCapture::capture(Stage& stage, DeviceTile const& tile, TileWork work) {
  try {
    stream_->begin_capture();
    std::size_t produced = 0;
    try {
      produced = stage.run(tile, *stream_);
    } catch (...) {
      drop_capture();
      throw;
    }
    Capture captured = stream_->end_capture();
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    return SlotGraph{.captured = std::move(captured), .work = work, .produced = produced};
  } catch (...) {
    auto why = current_failure("stage", ErrorKind::device_refused);
    if (why->kind == ErrorKind::device_lost && device_.lost()) throw;
    static_cast<void>(device_.take_refusal());
    give_up(std::move(why));
    return std::nullopt;
  }
}

void GraphCapture::drop_capture() noexcept {
  try {
    static_cast<void>(stream_->end_capture());
  } catch (...) {
    // The stage's own exception says more.
  }
}

void GraphCapture::give_up(std::shared_ptr<Failure const> why) noexcept {
  failure_ = std::move(why);
  choice_.give_up();
}

}  // namespace penstock
