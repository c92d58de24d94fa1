// SPDX-License-Identifier: Apache-2.0
// How a lane takes tiles out of its inbox, makes batches of them and puts these on its device.
#include <algorithm>
#include <utility>

#include "penstock/lane/lane.hpp"

namespace penstock {

/// Takes what waits in the inbox, and puts on the device what may go there. True if there was anything to do.
bool Lane::take_tiles() {
  bool const any = intake_.gather();
  if (intake_.empty()) return any;
  // Asked only after gathering: so a tile that was submitted after cancel() had returned is turned away.
  bool const cancelled = cancelled_.load(std::memory_order_acquire);
  if (loss_ != nullptr || cancelled) {
    turn_away(cancelled);
    return true;
  }
  intake_.take(room(), batch_);
  if (batch_.empty()) return any;
  put();
  return true;
}

DeviceRoom Lane::room() const noexcept {
  bool const ending = hurried_.load(std::memory_order_acquire) || closed_.load(std::memory_order_acquire);
  return {.free = flight_->room(), .in_flight = flight_->size(), .ending = ending};
}

bool Lane::turns_away() const noexcept {
  return loss_ != nullptr || cancelled_.load(std::memory_order_acquire);
}

void Lane::turn_away(bool cancelled) {
  while (!intake_.empty()) {
    intake_.take_any(batch_);
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
  auto const taken = std::chrono::steady_clock::now();
  if (summary_.batches == 0) {
    serves_since_ = taken;
    summary_.idle = {};
  }
  // They are in flight until this thread retires them.
  recorded_.clear();
  if (!intake_.pushed().empty()) {
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
    recorder.note(queue_row_, Step::inbox, tile.sequence, intake_.pushed()[tile.index()], taken);
    recorder.note(row_, Step::enqueue, tile.sequence, taken + took * before / tiles,
                  taken + took * (before + 1) / tiles);
  }
}

}  // namespace penstock
