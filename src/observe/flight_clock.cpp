// SPDX-License-Identifier: Apache-2.0
#include "observe/flight_clock.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "penstock/error.hpp"

namespace penstock {
namespace {

Event timing_event(Device& device) {
  return device.make_event({.timing = true});
}

/// The part of the device that does such a step; all lanes of the device have the same.
std::string engine_of(Device const& device, Step step) {
  DeviceInfo const info = device.info();
  std::string const what = info.kind == DeviceKind::cuda ? "GPU " + std::to_string(info.ordinal)
                           : info.modelled               ? device_name(info)
                                                         : std::string("CPU device");
  return what + " " + std::string(step_name(step));
}

/// Neither a tile's number nor the number before a tile's.
constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max() - 1;

}  // namespace

FlightClock::Times::Times(Device& device, StepTimerOptions const& options)
    : events(device, options.split, options.more_inputs, {.timing = true}),
      begins{timing_event(device), timing_event(device), timing_event(device)},
      more_asked(events.more_uploaded.size()) {
  for (std::size_t i = 0; i < more_asked.size(); ++i) more_begins.push_back(timing_event(device));
}

FlightClock::FlightClock(Device& device, Recorder& recorder, StepTimerOptions const& options,
                         std::chrono::nanoseconds reach)
    : recorder_(recorder),
      options_(options),
      reach_(reach),
      opened_(none),
      closed_(none),
      anchor_(timing_event(device)),
      idle_(device.make_stream()),
      next_anchor_(timing_event(device)) {
  std::string const name = "lane " + std::to_string(options.lane) + " ";
  for (std::size_t i = 0; i < steps; ++i) {
    auto const step = static_cast<Step>(static_cast<std::size_t>(Step::upload) + i);
    rows_[i] = recorder.add_row(name + std::string(step_name(step)), RecordRow::Kind::stream, engine_of(device, step));
    for (std::size_t more = 0; step == Step::upload && options.split && more < options.more_inputs; ++more) {
      more_rows_.push_back(recorder.add_row(name + "upload " + std::to_string(more + 2), RecordRow::Kind::stream,
                                            engine_of(device, step)));
    }
  }
  notice_row_ = recorder.add_row(name + "notice", RecordRow::Kind::queue);
  slots_.reserve(options.slots);
  for (std::size_t i = 0; i < options.slots; ++i) slots_.push_back(std::make_unique<Times>(device, options));

  // The record lies between two looks at the host's clock; of several pairs, the closest pair tells the time best.
  auto closest = std::chrono::nanoseconds::max();
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    auto const before = Clock::now();
    idle_.record(next_anchor_);
    while (!next_anchor_.passed()) {
    }
    auto const after = Clock::now();
    if (after - before >= closest) continue;
    closest = after - before;
    anchored_ = before + closest / 2;
    std::swap(anchor_, next_anchor_);
  }
  compared_ = anchored_;
}

FlightEvents& FlightClock::open(std::size_t slot, std::uint64_t oldest, std::uint64_t youngest,
                                TransferPath path) noexcept {
  Times& times = *slots_[slot];
  times.mapped = path == TransferPath::mapped;
  bool const behind_another = opened_ + 1 == oldest;
  bool const stage_shared = options_.shared;
  times.marked = options_.split ? std::array{!behind_another, !behind_another || stage_shared, !behind_another}
                                : std::array{!behind_another || stage_shared, true, true};
  times.asked.fill(Clock::now());
  if (times.mapped) times.marked = {false, !behind_another || stage_shared, false};
  times.number = opened_ = youngest;
  times.whole = true;
  return times.events;
}

void FlightClock::begin(std::size_t slot, Step step, StreamRef stream) {
  Times& times = *slots_[slot];
  auto const asked = times.asked[index_of(step)] = Clock::now();
  bool const first = step == (times.mapped ? Step::stage : Step::upload);
  if (first && asked - compared_ >= reach_) compare_clocks(asked);
  if (awaited_) ask_for_anchor();
  if (!times.marked[index_of(step)]) return;
  try {
    stream.record(times.begins[index_of(step)]);
  } catch (Error const& error) {
    if (error.sticky()) throw;
    times.whole = false;
  }
  recorder_.spend(Clock::now() - asked);
}

void FlightClock::begin_more(std::size_t slot, std::size_t which, StreamRef stream) {
  if (!options_.split) return;
  Times& times = *slots_[slot];
  auto const asked = times.more_asked[which] = Clock::now();
  try {
    stream.record(times.more_begins[which]);
  } catch (Error const& error) {
    if (error.sticky()) throw;
    times.whole = false;
  }
  recorder_.spend(Clock::now() - asked);
}

/// Begins to compare the clocks: by what the device's clock shows next, at `now` or later.
void FlightClock::compare_clocks(Clock::time_point now) {
  compared_ = now;
  try {
    idle_.record(next_anchor_);
    awaited_ = true;
  } catch (Error const& error) {
    if (error.sticky()) throw;
    awaited_ = false;
  }
}

void FlightClock::ask_for_anchor() {
  try {
    if (!next_anchor_.passed()) return;
  } catch (Error const& error) {
    if (error.sticky()) throw;
    return;
  }
  // Between the two moments that the host knows, no drift can be told, and no time is to jump.
  anchored_ = std::clamp(host_time(next_anchor_), compared_, Clock::now());
  std::swap(anchor_, next_anchor_);
  awaited_ = false;
}

FlightClock::Clock::time_point FlightClock::host_time(EventRef mark) const {
  return anchored_ + mark.since(anchor_).value_or(std::chrono::nanoseconds(0));
}

/// Times at which the steps ended, by the device's clock.
FlightClock::Moments FlightClock::told_ends(Times const& times) const {
  auto const landed = host_time(times.events.landed);
  if (!times.mapped && options_.split) {
    return {host_time(*times.events.uploaded), host_time(*times.events.computed), landed};
  }
  // Not all marks of a tile that failed were made.
  if (times.mapped || !times.whole) return {landed, landed, landed};
  return {host_time(times.begins[1]), host_time(times.begins[2]), landed};
}

/// No step ends before it was asked for, and no tile ends after the host has seen it through. If the device's clock
/// says so, the anchor is wrong by at least as much. That may happen where many processes take turns on the device.
void FlightClock::hold_to_the_hosts(Times const& times, Moments& told, Clock::time_point seen) {
  auto shift = Clock::duration::zero();
  for (std::size_t i = 0; i < steps; ++i) {
    if (has(times, i)) shift = std::max(shift, times.asked[i] - told[i]);
  }
  shift = std::min(shift, seen - told[last]);
  anchored_ += shift;
  for (Clock::time_point& moment : told) moment += shift;
}

FlightClock::Moments FlightClock::ends_of(Times const& times, Moments const& told) const {
  if (times.mapped) {
    auto const end = std::max(told[last], free_since(stage));
    return options_.split ? Moments{ends_[0], end, ends_[last]} : Moments{end, end, end};
  }
  Moments ends = told;
  for (std::size_t i = 0; i < steps; ++i) ends[i] = std::max(ends[i], free_since(i));
  return ends;
}

/// Time at which the stream of that step had finished the last tile that has known ends.
FlightClock::Clock::time_point FlightClock::free_since(std::size_t step) const {
  if (closed_ == none) return Clock::time_point::min();
  if (!options_.split) return ends_[last];
  return ends_[step];
}

FlightClock::Moments FlightClock::begins_of(Times const& times, Moments const& ends) const {
  Moments begins = times.asked;
  for (std::size_t i = 0; i < steps; ++i) {
    if (!has(times, i)) continue;
    if (i > 0 && !times.mapped) begins[i] = std::max(begins[i], ends[i - 1]);
    bool const stream_begins = options_.split || i == 0 || times.mapped;
    if (stream_begins && times.marked[i]) begins[i] = std::max(begins[i], host_time(times.begins[i]));
    if (i == stage) begins[i] = std::max(begins[i], more_uploads_end(times));
    begins[i] = std::max(begins[i], free_since(i));
    // The two clocks do not agree exactly.
    begins[i] = std::min(begins[i], ends[i]);
  }
  return begins;
}

void FlightClock::note(std::size_t slot, std::span<std::optional<std::uint64_t> const> sequences) {
  Times& times = *slots_[slot];
  if (!times.whole) return pass(slot);
  auto const now = Clock::now();
  if (awaited_) ask_for_anchor();
  Moments told = told_ends(times);
  hold_to_the_hosts(times, told, now);
  Moments const ends = ends_of(times, told);
  Moments const begins = begins_of(times, ends);
  recorder_.spend(Clock::now() - now);
  auto const tiles = static_cast<Clock::rep>(sequences.size());
  for (std::size_t place = 0; place < sequences.size(); ++place) {
    if (!sequences[place]) continue;
    std::uint64_t const sequence = *sequences[place];
    auto const before = static_cast<Clock::rep>(place);
    for (std::size_t i = 0; i < steps; ++i) {
      if (!has(times, i)) continue;
      auto const step = static_cast<Step>(static_cast<std::size_t>(Step::upload) + i);
      note_share(rows_[i], step, sequence, begins[i], ends[i], before, tiles);
    }
    note_more(times, sequence, before, tiles, begins[stage]);
    recorder_.note(notice_row_, Step::notice, sequence, std::min(end_of(times, ends), now), now);
  }
  close(times, ends);
}

/// Time at which the last of the uploads of further inputs ended.
FlightClock::Clock::time_point FlightClock::more_uploads_end(Times const& times) const {
  auto end = Clock::time_point::min();
  if (times.mapped || !times.whole) return end;
  for (Event const& uploaded : times.events.more_uploaded) end = std::max(end, host_time(uploaded));
  return end;
}

/// Notes one tile's share of the uploads of further inputs. Each ended before the stage began.
void FlightClock::note_more(Times const& times, std::uint64_t sequence, Clock::rep place, Clock::rep tiles,
                            Clock::time_point stage_begins) {
  if (times.mapped) return;
  for (std::size_t i = 0; i < more_rows_.size(); ++i) {
    auto const end = std::min(host_time(times.events.more_uploaded[i]), stage_begins);
    auto const begin = std::min(std::max(times.more_asked[i], host_time(times.more_begins[i])), end);
    note_share(more_rows_[i], Step::upload, sequence, begin, end, place, tiles);
  }
}

/// Notes what tile `place` of `tiles` has of a step that all of them took together.
void FlightClock::note_share(std::uint32_t row, Step step, std::uint64_t sequence, Clock::time_point begin,
                             Clock::time_point end, Clock::rep place, Clock::rep tiles) {
  auto const took = end - begin;
  recorder_.note(row, step, sequence, begin + took * place / tiles, begin + took * (place + 1) / tiles);
}

void FlightClock::pass(std::size_t slot) {
  Times& times = *slots_[slot];
  times.whole = false;
  close(times, ends_of(times, told_ends(times)));
}

void FlightClock::close(Times& times, Moments const& ends) {
  closed_ = times.number;
  ends_ = ends;
  if (end_of(times, ends) - anchored_ < reach_) return;
  // This tile's last mark becomes the anchor, and the old anchor its mark.
  anchored_ = host_time(times.events.landed);
  std::swap(anchor_, times.events.landed);
}

}  // namespace penstock
