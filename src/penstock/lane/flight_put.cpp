// SPDX-License-Identifier: Apache-2.0
// How tiles get on the device, and how they leave it.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "penstock/core/current_failure.hpp"
#include "penstock/lane/flight_clock.hpp"
#include "penstock/lane/flight_slot.hpp"

namespace penstock {

void Flight::put(std::span<Loan> loans, Stage& stage) {
  path_ = paths_.choose(loans, stage, put_, retired_);
  place(loans);
  std::uint64_t const captures = graphs_.captures();
  char const* at = path_ == TransferPath::mapped ? "stage" : "upload";
  bool enqueued = false;
  try {
    if (expect_right_sizes()) {
      enqueue(stage, at);
      enqueued = true;
    }
  } catch (...) {
    auto const failure = current_failure(at, ErrorKind::device_refused);
    // Any tile may have caused the loss; these only met it. But what a stage throws may be of another device.
    if (failure->kind == ErrorKind::device_lost && device_.lost()) throw;
    fail_batch(failure);
    static_cast<void>(device_.take_refusal());  // The stage may have left one when it threw; it is not the next tile's.
  }
  seal(enqueued);
  // A capture takes as long as some runs, and each copied tile of a whole round of slots may have one. A timed batch
  // takes marks, more of them if it is copied.
  if (timed_ || graphs_.captures() != captures) paths_.discount();
}

/// Gives each tile the next slot, so that neighbours stay neighbours, and all of them one set of events.
void Flight::place(std::span<Loan> loans) {
  oldest_ = put_ + 1;
  put_ += loans.size();
  timed_ = clock_ != nullptr &&
           std::any_of(loans.begin(), loans.end(), [&](Loan const& loan) { return clock_->wants(loan->sequence); });
  FlightEvents& events = timed_ ? clock_->open(put_ % slots_.size(), oldest_, put_, path_) : slot_of(put_).plain;
  failed_ = false;
  live_.clear();
  for (std::size_t i = 0; i < loans.size(); ++i) {
    Slot& slot = slot_of(oldest_ + i);
    slot.loan = std::move(loans[i]);
    slot.failure = nullptr;
    slot.batch = loans.size();
    slot.leads = i == 0;
    slot.path = path_;
    slot.seen = slot.parts;
    slot.let_go = false;
    slot.timed = timed_;
    slot.events = &events;
    // The device has passed what the slot's last tile launched.
    slot.own_work.clear();
    slot.work = &slot.own_work;
    live_.push_back(&slot);
  }
}

/// Fails tiles that claim more than they have. True if others are left.
bool Flight::expect_right_sizes() {
  for (Slot* const slot : live_) {
    try {
      expect_filled_fits(*slot->loan, "The tile");
    } catch (Error const& error) {
      slot->loan->forget_filled();
      slot->failure = std::make_shared<Failure const>(Failure{"upload", error.what(), error.kind()});
    }
  }
  drop_failed();
  return !live_.empty();
}

/// Shows the stage the tiles themselves. Those that the device cannot see fail.
void Flight::map() {
  for (Slot* const slot : live_) {
    if (auto const parts = paths_.find(*slot->loan)) {
      slot->seen = *parts;
      continue;
    }
    slot->failure = std::make_shared<Failure const>(Failure{
        "stage", "The device does not see this tile's memory: pin the pool with it, or let the transport be copies.",
        ErrorKind::bad_argument});
  }
  drop_failed();
}

void Flight::drop_failed() {
  if (std::erase_if(live_, [](Slot const* slot) { return slot->failure != nullptr; }) > 0) failed_ = true;
}

/// Tells the clock that a step comes next, if the batch's times are wanted.
void Flight::mark(Step step, StreamRef stream) {
  if (timed_) clock_->begin(put_ % slots_.size(), step, stream);
}

void Flight::enqueue(Stage& stage, char const*& at) {
  if (path_ == TransferPath::mapped) {
    map();
    mark(Step::stage, compute_);
    if (!live_.empty()) compute(stage);
    drop_failed();
    for (Slot* const slot : live_) {
      slot->mapped_bytes = slot->loan->all_filled() + slot->loan->produced;
      paths_.begin_mapped(slot->mapped_bytes);
    }
    mapped_tiles_ += live_.size();
    return;
  }
  FlightEvents const& events = *live_.front()->events;
  StreamRef const down = last_stream();
  mark(Step::upload, upload_);
  upload(upload_, 0);
  for (std::size_t i = 0; i < more_inputs_.size(); ++i) {
    StreamRef const stream = split_ ? own_more_uploads_[i] : upload_;
    if (timed_) clock_->begin_more(put_ % slots_.size(), i, stream);
    upload(stream, more_inputs_[i]);
  }
  if (across()) join_uploads();

  at = "stage";
  mark(Step::stage, compute_);
  compute(stage);
  drop_failed();

  at = "download";
  if (across()) {
    compute_.record(*events.computed);
    down.wait(*events.computed);
  }
  mark(Step::download, down);
  copies_.clear();
  for (Slot* const slot : live_) {
    std::size_t const produced = slot->loan->produced;
    add_copy(copies_, {slot->loan->output().first(produced), slot->parts.output.first(produced)});
  }
  down.download(copies_);
  asked_copies_ += copies_.size();
}

/// Copies one of the inputs of all tiles.
void Flight::upload(StreamRef stream, std::size_t which) {
  copies_.clear();
  for (Slot* const slot : live_) {
    auto const from = slot->loan->filled_input(which);
    auto const to = which == 0 ? slot->parts.input : slot->parts.more_inputs[which - 1];
    add_copy(copies_, {to.first(from.size()), from});
  }
  stream.upload(copies_);
  asked_copies_ += copies_.size();
}

/// Lets the stage wait, on the device, until every input is there.
void Flight::join_uploads() {
  FlightEvents const& events = *slot_of(put_).events;
  upload_.record(*events.uploaded);
  compute_.wait(*events.uploaded);
  for (std::size_t i = 0; i < own_more_uploads_.size(); ++i) {
    own_more_uploads_[i].record(events.more_uploaded[i]);
    compute_.wait(events.more_uploaded[i]);
  }
}

/// Runs the stage, for all tiles at once if it can. Otherwise, what `run` throws for one tile fails only that tile.
void Flight::compute(Stage& stage) {
  seen_.clear();
  for (Slot const* const slot : live_) {
    Tile const& tile = *slot->loan;
    DeviceTile& seen = seen_.emplace_back(
        DeviceTile{slot->seen.input.first(tile.filled), slot->seen.output, tile.sequence, tile.tag, {}});
    for (std::size_t const which : more_inputs_) {
      seen.more_inputs[which - 1] = slot->seen.more_inputs[which - 1].first(tile.more_filled[which - 1]);
    }
  }
  if (live_.size() > 1) {
    produced_.assign(live_.size(), 0);
    WorkFailure& work = slot_of(put_).own_work;
    bool taken = false;
    {
      AttributedHere const attributed(compute_, work);
      taken = stage.run_batch(seen_, produced_, compute_);
    }
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    if (taken) {
      for (std::size_t i = 0; i < live_.size(); ++i) {
        live_[i]->work = &work;
        accept(*live_[i], produced_[i]);
      }
      return;
    }
  }
  for (std::size_t i = 0; i < live_.size(); ++i) run(*live_[i], seen_[i], stage);
}

void Flight::run(Slot& slot, DeviceTile const& seen, Stage& stage) {
  try {
    // A stage may have nothing to do for a tile without input, and so nothing to capture.
    bool const stays_plain =
        path_ == TransferPath::mapped || (seen.input.empty() && !seen.has_more_inputs() && shape_.input_bytes > 0);
    AttributedHere const attributed(compute_, slot.own_work);
    std::size_t const produced = stays_plain ? stage.run(seen, compute_) : graphs_.run(stage, seen, slot.graph);
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    accept(slot, produced);
  } catch (...) {
    auto failure = current_failure("stage", ErrorKind::device_refused);
    if (failure->kind == ErrorKind::device_lost && device_.lost()) throw;
    slot.failure = std::move(failure);
    static_cast<void>(device_.take_refusal());
  }
}

void Flight::accept(Slot& slot, std::size_t produced) const {
  if (produced <= shape_.output_bytes) {
    slot.loan->produced = produced;
    return;
  }
  std::string const why = "The stage says that it produced " + std::to_string(produced) +
                          " bytes, but a tile's output part has " + std::to_string(shape_.output_bytes) + ".";
  slot.failure = std::make_shared<Failure const>(Failure{"stage", why, ErrorKind::bad_argument});
}

/// Fails all tiles of the batch that have not failed already.
void Flight::fail_batch(std::shared_ptr<Failure const> const& why) {
  failed_ = true;
  for (std::uint64_t number = oldest_; number <= put_; ++number) {
    Slot& slot = slot_of(number);
    if (slot.failure == nullptr) slot.failure = why;
  }
}

/// Records `landed` where every stream has passed the batch, also if only some of its steps were enqueued: until then
/// the device may read or write its memory.
void Flight::seal(bool enqueued) {
  FlightEvents const& events = *slot_of(put_).events;
  try {
    if (!enqueued && across()) {
      join_uploads();
      compute_.record(*events.computed);
      download_.wait(*events.computed);
    }
    last_stream().record(events.landed);
  } catch (Error const& error) {
    if (error.sticky()) throw;
    wait_idle();
    // An abandoned device has not let go: a caller that asks is told so, and the tiles are stranded.
    bool const let_go = !device_.abandoned();
    for (std::uint64_t number = oldest_; number <= put_; ++number) slot_of(number).let_go = let_go;
    fail_batch(std::make_shared<Failure const>(Failure{"signal", error.what(), error.kind()}));
  }
}

}  // namespace penstock
