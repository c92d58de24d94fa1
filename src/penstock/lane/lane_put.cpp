// SPDX-License-Identifier: Apache-2.0
// How a lane takes tiles out of its inbox, makes batches of them and puts these on its device.
#include <algorithm>
#include <utility>

#include "penstock/lane/lane.hpp"

namespace penstock {

namespace {

/// How many whole blocks in a row may pass tiles that wait for their neighbours: some neighbours may be out for long.
constexpr unsigned most_overtakings = 4;
/// So many tiles in a row pay for one more tile in a batch: its last tile's wait against the cost of one more copy.
constexpr std::uint64_t tiles_for_one_more = 32;

}  // namespace

/// Takes what waits in the inbox, and puts on the device what may go there. True if there was anything to do.
bool Lane::take_tiles() {
  bool const any = gather();
  if (gathered_.empty()) return any;
  // Asked only after gathering: so a tile that was submitted after cancel() had returned is turned away.
  bool const cancelled = cancelled_.load(std::memory_order_acquire);
  if (loss_ != nullptr || cancelled) {
    turn_away(cancelled);
    return true;
  }
  batch_.clear();
  std::size_t const most = most_at_once();
  bool const whole_ones = most == options_.batch;
  std::size_t const room = std::min(most, flight_->room());
  bool passes = false;
  if (whole_ones && overtaken_ >= most_overtakings) {
    gathered_.take_oldest(room, batch_);
  } else if (whole_ones && whole_fits()) {
    passes = !gathered_.whole_is_oldest();
    gathered_.take_whole(batch_);
  } else if (may_put_parts()) {
    gathered_.take(room, batch_);
  }
  if (batch_.empty()) return any;
  overtaken_ = passes ? overtaken_ + 1 : 0;
  put();
  return true;
}

/// No tile of a batch is computed before the whole batch is uploaded, nor downloaded before the whole batch is
/// computed: one direction stays behind the other by so much to the end. So batches grow with the length of the run.
std::size_t Lane::most_at_once() const noexcept {
  std::uint64_t const in_a_row = had_nothing_ ? in_a_row_ / 2 : in_a_row_;
  return std::clamp<std::size_t>(in_a_row / tiles_for_one_more, small_batch_, options_.batch);
}

bool Lane::gather() {
  bool any = false;
  while (auto const tile = inbox_.pop()) {
    gathered_.add(Loan::resume(*tile));
    any = true;
  }
  return any;
}

bool Lane::whole_fits() noexcept {
  std::size_t const whole = gathered_.whole();
  return whole != 0 && flight_->room() >= whole;
}

/// True if the tiles that were gathered first need not wait for their neighbours.
bool Lane::may_put_parts() noexcept {
  if (gathered_.empty() || flight_->full()) return false;
  if (overtaken_ >= most_overtakings || most_at_once() < options_.batch) return true;
  // With less to do the device might run dry before a block is whole.
  if (flight_->size() < half_of_slots()) return true;
  return hurried_.load(std::memory_order_acquire) || closed_.load(std::memory_order_acquire);
}

bool Lane::turns_away() const noexcept {
  return loss_ != nullptr || cancelled_.load(std::memory_order_acquire);
}

void Lane::turn_away(bool cancelled) {
  while (!gathered_.empty()) {
    batch_.clear();
    gathered_.take(options_.batch, batch_);
    for (Loan& loan : batch_) {
      deliver(cancelled && loss_ == nullptr ? Completion::cancelled(std::move(loan))
                                            : Completion::failed(std::move(loan), loss_));
    }
  }
}

/// The tile that stands for the batch where only one can be named: the first that a recorder wants, if there is one.
std::uint64_t Lane::spokesman() const noexcept {
  Recorder const* const recorder = options_.flight.recorder;
  auto const wanted = [&](Loan const& loan) { return recorder != nullptr && recorder->wants(loan->sequence); };
  auto const found = std::find_if(batch_.begin(), batch_.end(), wanted);
  return (found != batch_.end() ? *found : batch_.front())->sequence;
}

/// Puts what is in batch_.
void Lane::put() {
  bool const first = flight_->empty();
  if (std::exchange(had_nothing_, false)) in_a_row_ /= 2;
  // The count stays within twice the largest batch, so that a long run is soon forgotten.
  in_a_row_ = std::min<std::uint64_t>(in_a_row_ + batch_.size(), 2 * tiles_for_one_more * options_.batch);
  auto const taken = std::chrono::steady_clock::now();
  if (summary_.batches == 0) {
    serves_since_ = taken;
    summary_.idle = {};
  }
  // They are in flight until this thread retires them.
  recorded_.clear();
  if (!submitted_.empty()) {
    for (Loan const& loan : batch_) recorded_.push_back(&*loan);
  }
  flight_->cut_off(taken);  // Before the flight knows of the next lone batch.
  try {
    {
      RangeHere const range(options_.ranges, Step::enqueue, spokesman());
      flight_->put(batch_, *stage_);
    }
    ++summary_.batches;
    // A lane that sleeps would measure its own wake-up.
    if (first && options_.spin.count() > 0) flight_->watch(taken);
    if (!recorded_.empty()) note_taken(taken);
    // Now, and not before: the time of the stage's calls on this thread is not the device's time.
    if (first) {
      progress_ = asked_ = paced_at_ = std::chrono::steady_clock::now();
      patience_.renew(progress_);
      paced_ = flight_->retired();
    }
    tell_signal();
  } catch (Error const& error) {
    give_up(error);
  }
}

/// What the calls took is shared out among the batch in equal parts.
void Lane::note_taken(std::chrono::steady_clock::time_point taken) const {
  Recorder& recorder = *options_.flight.recorder;
  auto const took = std::chrono::steady_clock::now() - taken;
  auto const tiles = static_cast<std::chrono::nanoseconds::rep>(recorded_.size());
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    Tile const& tile = *recorded_[i];
    if (!recorder.wants(tile.sequence)) continue;
    auto const before = static_cast<std::chrono::nanoseconds::rep>(i);
    recorder.note(queue_row_, Step::inbox, tile.sequence, submitted_[tile.index()], taken);
    recorder.note(row_, Step::enqueue, tile.sequence, taken + took * before / tiles,
                  taken + took * (before + 1) / tiles);
  }
}

}  // namespace penstock
