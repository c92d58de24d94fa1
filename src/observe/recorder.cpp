// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include <pthread.h>

#include "observe/flight_clock.hpp"
#include "penstock/error.hpp"
#include "penstock/observe.hpp"

namespace penstock {

Recorder::Recorder(RecorderOptions options) : options_(options), every_(options.every), passages_(options.capacity) {
  if (options.every == 0) throw Error(ErrorKind::bad_argument, "One in 0 tiles cannot be recorded: ask for 1 or more.");
  if (options.capacity == 0) {
    throw Error(ErrorKind::bad_argument, "A recorder needs room for something: ask for 1 passage or more.");
  }
}

Recorder::~Recorder() = default;

std::unique_ptr<StepTimer> Recorder::make_step_timer(Device& device, StepTimerOptions const& options) {
  return std::make_unique<FlightClock>(device, *this, options);
}

std::uint32_t Recorder::add_row(std::string name, RecordRow::Kind kind, std::string engine) {
  std::scoped_lock const lock(rows_mutex_);
  rows_.push_back({std::move(name), kind, std::move(engine)});
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

std::uint32_t Recorder::row_here() {
  std::scoped_lock const lock(rows_mutex_);
  rows_.reserve(rows_.size() + 1);  // This comes before the thread is noted to have a row.
  auto const [place, fresh] =
      by_thread_.try_emplace(std::this_thread::get_id(), static_cast<std::uint32_t>(rows_.size()));
  if (fresh) {
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    rows_.push_back({name.data(), RecordRow::Kind::thread});
  }
  return place->second;
}

void Recorder::note(std::uint32_t row, Step step, std::uint64_t tile, Clock::time_point begin,
                    Clock::time_point end) noexcept {
  if (options_.thin_out) return note_or_thin_out({tile, row, step, since_start(begin), since_start(end)});
  // Relaxed: the thread that takes the recording has waited, by other means, for the threads that note.
  std::uint64_t const place = next_.fetch_add(1, std::memory_order_relaxed);
  if (place >= passages_.size()) return;
  passages_[place] = {tile, row, step, since_start(begin), since_start(end)};
}

void Recorder::note_here(Step step, std::uint64_t tile, Clock::time_point begin, Clock::time_point end) noexcept {
  try {
    note(row_here(), step, tile, begin, end);
  } catch (std::bad_alloc const&) {  // The tile itself continues.
  }
}

void Recorder::note_or_thin_out(Passage const& passage) noexcept {
  std::scoped_lock const lock(thinning_mutex_);
  ++noted_;
  while (next_ >= passages_.size() && thin_out()) {
  }
  // Asked here again: the tile may have been wanted only when the passage began.
  if (!wants(passage.tile)) return;
  std::uint64_t const place = next_.fetch_add(1, std::memory_order_relaxed);
  if (place < passages_.size()) passages_[place] = passage;
}

/// False if it cannot look at fewer tiles.
bool Recorder::thin_out() noexcept {
  if (every_ > std::numeric_limits<std::uint64_t>::max() / 2) return false;
  every_ = 2 * every_;
  auto const end =
      std::remove_if(passages_.begin(), passages_.end(), [&](Passage const& passage) { return !wants(passage.tile); });
  next_ = static_cast<std::uint64_t>(end - passages_.begin());
  return true;
}

std::optional<std::uint32_t> Recorder::span_number(std::string_view name) noexcept {
  try {
    std::scoped_lock const lock(spans_mutex_);
    if (auto const known = span_numbers_.find(name); known != span_numbers_.end()) return known->second;
    if (span_numbers_.size() < options_.spans) {
      auto const number = static_cast<std::uint32_t>(span_numbers_.size());
      return span_numbers_.emplace(name, number).first->second;
    }
  } catch (std::bad_alloc const&) {  // It is missed.
  }
  spans_missed_.fetch_add(1, std::memory_order_relaxed);
  return std::nullopt;
}

void Recorder::note_span(std::uint32_t name, std::optional<std::uint64_t> tile, Clock::time_point begin,
                         Clock::time_point end) noexcept {
  try {
    std::uint32_t const row = row_here();
    std::scoped_lock const lock(spans_mutex_);
    if (spans_.size() >= options_.spans) make_room_for_spans();
    if (spans_.size() < options_.spans) {
      spans_.push_back({name, row, tile, since_start(begin), since_start(end)});
      return;
    }
  } catch (std::bad_alloc const&) {  // It is missed.
  }
  spans_missed_.fetch_add(1, std::memory_order_relaxed);
}

void Recorder::discard_unwanted_spans() noexcept {
  std::erase_if(spans_, [&](RecordedSpan const& span) { return span.tile && !wants(*span.tile); });
}

/// Looks at fewer tiles until there is room. Spans without a tile stay: if most are such, the tiles are not to blame.
void Recorder::make_room_for_spans() noexcept {
  if (!options_.thin_out || spans_are_full_) return;
  discard_unwanted_spans();
  while (spans_.size() >= options_.spans) {
    auto const of_tiles = std::ranges::count_if(spans_, [](RecordedSpan const& span) { return span.tile.has_value(); });
    std::scoped_lock const lock(thinning_mutex_);
    if (2 * static_cast<std::size_t>(of_tiles) < spans_.size() || !thin_out()) {
      spans_are_full_ = true;
      return;
    }
    discard_unwanted_spans();
  }
}

void Recorder::take_spans(Recording& taken) {
  std::scoped_lock const lock(spans_mutex_);
  discard_unwanted_spans();
  taken.spans = std::exchange(spans_, {});
  taken.spans_missed = spans_missed_.exchange(0, std::memory_order_relaxed);
  spans_are_full_ = false;
  taken.span_names.resize(span_numbers_.size());
  for (auto const& [name, number] : span_numbers_) taken.span_names[number] = name;
}

Recording Recorder::take() {
  Recording taken;
  take_spans(taken);  // This asks which tiles are wanted still.
  taken.every = every_.exchange(options_.every, std::memory_order_relaxed);
  taken.tiles = tiles_.load(std::memory_order_relaxed);
  taken.spent = spent_.exchange(0, std::memory_order_relaxed);
  std::uint64_t const noted = next_.exchange(0, std::memory_order_relaxed);
  std::uint64_t const kept = std::min<std::uint64_t>(noted, passages_.size());
  taken.missed = noted - kept;
  taken.noted = options_.thin_out ? std::exchange(noted_, 0) : noted;
  taken.passages.assign(passages_.begin(), passages_.begin() + static_cast<std::ptrdiff_t>(kept));
  std::scoped_lock const lock(rows_mutex_);
  taken.rows = rows_;
  // The system gives the numbers of threads that have ended to new ones.
  by_thread_.clear();
  return taken;
}

}  // namespace penstock
