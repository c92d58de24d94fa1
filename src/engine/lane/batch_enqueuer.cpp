// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/batch_enqueuer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/core/failure_text.hpp"

namespace penstock {
namespace {

/// Adds a copy, or lengthens the last one if it ends where the new one begins, on both sides.
void add_copy(std::vector<Copy>& copies, Copy next) {
  if (next.from.empty()) return;
  if (!copies.empty()) {
    Copy& last = copies.back();
    bool const fits = last.to.size() == last.from.size();
    if (fits && last.to.data() + last.to.size() == next.to.data() &&
        last.from.data() + last.from.size() == next.from.data()) {
      last = {{last.to.data(), last.to.size() + next.to.size()},
              {last.from.data(), last.from.size() + next.from.size()}};
      return;
    }
  }
  copies.push_back(next);
}

}  // namespace

void FlightBatch::fail(std::shared_ptr<Failure const> const& why) noexcept {
  for (FlightSlot* const slot : all) {
    if (slot->failure == nullptr) slot->failure = why;
  }
}

bool FlightBatch::has_failed() const noexcept {
  return std::ranges::any_of(all, [](FlightSlot const* slot) { return slot->failure != nullptr; });
}

void FlightBatch::drop_failed() noexcept {
  std::erase_if(live, [](FlightSlot const* slot) { return slot->failure != nullptr; });
}

BatchEnqueuer::BatchEnqueuer(Device& device, TileShape shape, FlightOptions const& options, LaneStreams& streams,
                             PathChooser& paths, StepTimer* timer)
    : device_(device),
      shape_(shape),
      transport_(options.transport),
      step_by_step_(options.step_by_step),
      more_inputs_(shape.more_inputs()),
      streams_(streams),
      paths_(paths),
      timer_(timer),
      // In a graph its kernels are as urgent as in the stream where it was captured.
      graphs_(device, options.graphs, streams.compute(), streams.compute_priority()) {
  copies_.reserve(options.slots);
  seen_.reserve(options.slots);
  produced_.reserve(options.slots);
}

void BatchEnqueuer::prepare(Stage const& stage) {
  // Mapped tiles are never captured.
  if (transport_ != Transport::mapped) graphs_.prepare(stage);
}

/// Tells the clock that a step comes next, if the batch's times are wanted.
void BatchEnqueuer::mark(FlightBatch const& batch, Step step, StreamRef stream) {
  if (batch.timed) timer_->begin(batch.timer_place, step, stream);
}

void BatchEnqueuer::enqueue_mapped(FlightBatch& batch, Stage& stage) {
  map(batch, stage);
  mark(batch, Step::stage, streams_.compute());
  if (!batch.live.empty()) compute(batch, stage);
  batch.drop_failed();
  for (FlightSlot* const slot : batch.live) {
    slot->mapped_bytes = slot->loan->all_filled() + slot->loan->produced;
    paths_.begin_mapped(slot->mapped_bytes);
  }
  mapped_tiles_ += batch.live.size();
}

/// Shows the stage the tiles themselves. Those that the device cannot see fail.
void BatchEnqueuer::map(FlightBatch& batch, Stage const& stage) {
  for (FlightSlot* const slot : batch.live) {
    if (!is_aligned_for(*slot->loan, stage)) {
      slot->failure = std::make_shared<Failure const>(
          Failure{"stage",
                  "The memory of this tile does not begin at a multiple of " + std::to_string(TileShape::alignment) +
                      ": put it there, have the stage promise any_alignment, or let the transport be copies.",
                  ErrorKind::bad_argument});
      continue;
    }
    if (auto const parts = paths_.find(*slot->loan)) {
      slot->seen = *parts;
      continue;
    }
    slot->failure = std::make_shared<Failure const>(Failure{
        "stage", "The device does not see this tile's memory: pin the pool with it, or let the transport be copies.",
        ErrorKind::bad_argument});
  }
  batch.drop_failed();
}

void BatchEnqueuer::enqueue_copied(FlightBatch& batch, Stage& stage, char const*& at) {
  at = "upload";
  mark(batch, Step::upload, streams_.upload());
  upload(batch, streams_.upload(), 0);
  for (std::size_t i = 0; i < more_inputs_.size(); ++i) {
    StreamRef const stream = streams_.more_upload(i);
    if (batch.timed) timer_->begin_more(batch.timer_place, i, stream);
    upload(batch, stream, more_inputs_[i]);
  }
  bool const across = streams_.across(batch.path);
  if (across) streams_.join_uploads(*batch.events);
  settle(streams_.compute());

  at = "stage";
  mark(batch, Step::stage, streams_.compute());
  compute(batch, stage);
  batch.drop_failed();

  at = "download";
  if (across) streams_.join_stage(*batch.events);
  mark(batch, Step::download, streams_.download());
  download(batch);
  settle(streams_.download());
}

/// Throws here what the device met in this step, if each step is waited for.
void BatchEnqueuer::settle(StreamRef stream) {
  if (!step_by_step_ || out_of_patience_) return;
  out_of_patience_ = !streams_.wait_idle(stream);
  if (auto const loss = device_.lost()) throw Error(*loss);
}

/// Copies one of the inputs of all tiles.
void BatchEnqueuer::upload(FlightBatch const& batch, StreamRef stream, std::size_t which) {
  copies_.clear();
  for (FlightSlot* const slot : batch.live) {
    auto const from = slot->loan->filled_input(which);
    auto const to = which == 0 ? slot->parts.input : slot->parts.more_inputs[which - 1];
    add_copy(copies_, {to.first(from.size()), from});
  }
  stream.upload(copies_);
  asked_copies_ += copies_.size();
}

void BatchEnqueuer::download(FlightBatch const& batch) {
  copies_.clear();
  for (FlightSlot* const slot : batch.live) {
    std::size_t const produced = slot->loan->produced;
    add_copy(copies_, {slot->loan->output().first(produced), slot->parts.output.first(produced)});
  }
  streams_.download().download(copies_);
  asked_copies_ += copies_.size();
}

/// Runs the stage, for all tiles at once if it can. Otherwise, what `run` throws for one tile fails only that tile.
void BatchEnqueuer::compute(FlightBatch& batch, Stage& stage) {
  seen_.clear();
  for (FlightSlot const* const slot : batch.live) {
    Tile const& tile = *slot->loan;
    DeviceTile& seen = seen_.emplace_back(
        DeviceTile{slot->seen.input.first(tile.filled), slot->seen.output, tile.sequence, tile.tag, {}, tile.index()});
    for (std::size_t const which : more_inputs_) {
      seen.more_inputs[which - 1] = slot->seen.more_inputs[which - 1].first(tile.more_filled[which - 1]);
    }
  }
  if (batch.live.size() > 1) {
    produced_.assign(batch.live.size(), 0);
    WorkFailure& work = batch.all.back()->own_work;
    bool taken = false;
    {
      AttributedHere const attributed(streams_.compute(), work);
      taken = stage.run_batch(seen_, produced_, streams_.compute());
    }
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    if (taken) {
      for (std::size_t i = 0; i < batch.live.size(); ++i) {
        batch.live[i]->work = &work;
        accept(*batch.live[i], produced_[i]);
      }
      settle(streams_.compute());
      return;
    }
  }
  for (std::size_t i = 0; i < batch.live.size(); ++i) run(*batch.live[i], seen_[i], stage);
}

void BatchEnqueuer::run(FlightSlot& slot, DeviceTile const& seen, Stage& stage) {
  StreamRef const stream = streams_.compute();
  try {
    // A stage may have nothing to do for a tile without input, and so nothing to capture.
    bool const stays_plain = slot.batch.path == TransferPath::mapped ||
                             (seen.input.empty() && !seen.has_more_inputs() && shape_.input_bytes > 0);
    AttributedHere const attributed(stream, slot.own_work);
    std::size_t const produced = stays_plain ? stage.run(seen, stream) : graphs_.run(stage, seen, slot.graph);
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    accept(slot, produced);
    settle(stream);
  } catch (...) {
    auto failure = current_failure("stage", ErrorKind::device_refused);
    bool const lost = failure->kind == ErrorKind::device_lost && device_.lost();
    if (!lost || step_by_step_) slot.failure = std::move(failure);
    if (lost) throw;
    static_cast<void>(device_.take_refusal());
  }
}

void BatchEnqueuer::accept(FlightSlot& slot, std::size_t produced) const {
  if (produced <= shape_.output_bytes) {
    slot.loan->produced = produced;
    return;
  }
  std::string const why = "The stage says that it produced " + std::to_string(produced) +
                          " bytes, but a tile's output part has " + std::to_string(shape_.output_bytes) +
                          ": make the output part larger, or return fewer bytes.";
  slot.failure = std::make_shared<Failure const>(Failure{"stage", why, ErrorKind::bad_argument});
}

}  // namespace penstock
