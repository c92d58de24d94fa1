// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/flight.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "engine/core/failure_text.hpp"
#include "engine/core/pool.hpp"
#include "engine/lane/red_zones.hpp"

namespace penstock {
namespace {

/// The reason to abandon a device that has finished no tile for `patience`.
Error out_of_patience(DeviceKind device, std::chrono::nanoseconds patience) {
  auto const milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  return Error(ErrorKind::device_lost,
               std::string(device == DeviceKind::cuda ? "The GPU" : "The CPU device") +
                   " finished none of a lane's tiles for " + std::to_string(milliseconds) +
                   " ms: a kernel does not end or waits for what does not come, or others take all of the device. It "
                   "is given up, "
                   "with what it holds, until the process ends. Find the kernel, or let the lanes have more patience.");
}

FlightOptions expect_sound(FlightOptions options, Device const& device) {
  if (options.patience.count() <= 0) {
    throw Error(ErrorKind::bad_argument,
                "A lane needs some patience with its device: leave it at 60 s, or ask for more.");
  }
  if (options.slots == 0) throw Error(ErrorKind::bad_argument, "A lane needs at least one slot: ask for 1 or more.");
  if (options.red_zones && device.info().kind == DeviceKind::cuda) {
    throw Error(
        ErrorKind::bad_argument,
        "`red_zones` are for CPU devices: run the program under compute-sanitizer to find what a kernel of a GPU "
        "writes elsewhere.");
  }
  if (options.red_zones && options.transport == Transport::mapped) {
    throw Error(ErrorKind::bad_argument,
                "`red_zones` lie around copies of tiles: let the transport be automatic or copies.");
  }
  return options;
}

/// Bytes that may be mapped at once. On the CPU device a copy only costs what a pass over the tile costs.
std::size_t mapped_bound(FlightOptions const& options, StreamRef stream) {
  bool const copies_cost = stream.kind() == DeviceKind::cuda || stream.modelled();
  return options.mapped_bytes.value_or(copies_cost ? most_mapped_bytes : unbounded_mapped_bytes);
}

TileShape shape_of_slots(FlightOptions const& options, TileShape const& shape) {
  return options.red_zones ? RedZones::around(shape) : shape;
}

std::vector<std::unique_ptr<FlightSlot>> make_slots(Device& device, FlightOptions const& options, TileShape shape,
                                                    DeviceMemory& memory) {
  std::vector<std::unique_ptr<FlightSlot>> slots;
  slots.reserve(options.slots);
  bool const split = options.shape != LaneShape::single;
  std::size_t const more_inputs = shape.more_inputs().size();
  for (std::size_t i = 0; i < options.slots; ++i) {
    slots.push_back(std::make_unique<FlightSlot>(device, split, more_inputs));
    if (options.transport == Transport::mapped) continue;
    TileParts const parts = shape_of_slots(options, shape).cut(memory.bytes(), options.slots, i);
    slots.back()->parts = options.red_zones ? RedZones::within(parts, shape) : parts;
  }
  return slots;
}

std::unique_ptr<StepTimer> make_timer(Device& device, FlightOptions const& options, LaneStreams const& streams,
                                      std::size_t more_inputs) {
  if (options.recorder == nullptr) return nullptr;
  return options.recorder->make_step_timer(device, {.lane = options.lane,
                                                    .slots = options.slots,
                                                    .split = streams.split(),
                                                    .more_inputs = more_inputs,
                                                    .shared = streams.compute() == device.legacy_default_stream()});
}

}  // namespace

Flight::Flight(Device& device, TileShape shape, FlightOptions options)
    : device_(device),
      patience_(expect_sound(options, device).patience),
      lane_(options.lane),
      hooks_(options.hooks),
      step_by_step_(options.step_by_step),
      red_zones_(options.red_zones),
      streams_(device, options, shape.more_inputs().size()),
      paths_(device, options.red_zones ? Transport::copies : options.transport,
             mapped_bound(options, streams_.compute()), shape, options.tiles),
      memory_(device.allocate(options.transport == Transport::mapped
                                  ? 0
                                  : Pool::slab_bytes(shape_of_slots(options, shape), options.slots))),
      slots_(make_slots(device, options, shape, memory_)),
      timer_(make_timer(device, options, streams_, shape.more_inputs().size())),
      enqueuer_(device, shape, options, streams_, paths_, timer_.get()) {
  batch_.all.reserve(options.slots);
  batch_.live.reserve(options.slots);
  sequences_.reserve(options.slots);
}

Flight::~Flight() {
  // The flight does not own the default stream, so no other code would wait for it before the slots' memory is freed.
  wait_idle();
}

void Flight::put(std::span<Loan> loans, Stage& stage) {
  place(loans, paths_.choose(loans, stage, put_, retired_));
  char const* at = "stage";
  bool enqueued = false;
  try {
    if (!batch_.live.empty()) {
      batch_.path == TransferPath::mapped ? enqueuer_.enqueue_mapped(batch_, stage)
                                          : enqueuer_.enqueue_copied(batch_, stage, at);
      enqueued = true;
    }
  } catch (...) {
    auto const failure = current_failure(at, ErrorKind::device_refused);
    // Any tile may have caused the loss; these only met it. But what a stage throws may be of another device.
    bool const lost = failure->kind == ErrorKind::device_lost && device_.lost();
    if (!lost || (step_by_step_ && !batch_.has_failed())) batch_.fail(failure);
    if (lost) throw;
    static_cast<void>(device_.take_refusal());  // The stage may have left one when it threw; it is not the next tile's.
  }
  seal(enqueued);
  if (enqueuer_.out_of_patience()) throw run_out_of_patience();
}

/// Gives each tile the next slot, in their order, and all of them one set of events. Fails tiles that claim too much.
void Flight::place(std::span<Loan> loans, TransferPath path) {
  std::uint64_t const oldest = put_ + 1;
  std::uint64_t const youngest = put_ += loans.size();
  std::size_t const timer_place = youngest % slots_.size();
  bool const timed = timer_ != nullptr && std::any_of(loans.begin(), loans.end(),
                                                      [&](Loan const& loan) { return timer_->wants(loan->sequence); });
  FlightEvents* const events = timed ? &timer_->open(timer_place, oldest, youngest, path) : &slot_of(youngest).plain;
  batch_.begin(path, events, timer_place, timed);
  for (std::size_t i = 0; i < loans.size(); ++i) {
    FlightSlot& slot = slot_of(oldest + i);
    slot.loan = std::move(loans[i]);
    slot.failure = nullptr;
    slot.batch = {.path = path, .events = events, .size = loans.size(), .leads = i == 0, .timed = timed};
    slot.seen = slot.parts;
    slot.own_work.clear();  // The device has passed what the slot's last tile launched.
    slot.work = &slot.own_work;
    if (red_zones_) RedZones::paint(slot.parts, *slot.loan);
    try {
      expect_filled_fits(*slot.loan, "The tile");
    } catch (...) {
      slot.loan->forget_filled();
      slot.failure = current_failure("upload", ErrorKind::bad_argument);
    }
    batch_.add(slot);
  }
}

/// Records `landed` where every stream has passed the batch, also if only some of its steps were enqueued: until then
/// the device may read or write its memory.
void Flight::seal(bool enqueued) {
  try {
    if (!enqueued && streams_.across(batch_.path)) {
      streams_.join_uploads(*batch_.events);
      streams_.join_stage(*batch_.events);
    }
    last_stream().record(batch_.events->landed);
  } catch (std::exception const& exception) {
    auto const* const error = dynamic_cast<Error const*>(&exception);
    if (error != nullptr && error->sticky()) throw;
    auto const why = current_failure("signal", ErrorKind::device_refused);
    wait_idle();
    // An abandoned device has not let go: a caller that asks is told so, and the tiles are stranded.
    bool const let_go = !device_.abandoned();
    for (FlightSlot* const slot : batch_.all) slot->batch.let_go = let_go;
    batch_.fail(why);
  }
}

bool Flight::passed(std::uint64_t number) const {
  SlotBatch const& batch = slot_of(number).batch;
  return batch.let_go || batch.events->landed.passed();
}

void Flight::wait_idle() noexcept {
  for (;;) {
    try {
      // One tile after the other, so that the device gets time for each.
      for (std::uint64_t number = retired_ + 1; number <= put_; ++number) {
        if (!streams_.await([&] { return passed(number); })) throw run_out_of_patience();
      }
      if (!streams_.wait_idle()) throw run_out_of_patience();
      return;
    } catch (Error const&) {
      break;
    } catch (std::bad_alloc const&) {
      // To abandon the device takes memory, and there was none. So the device gets the same time again.
    }
  }
  // The device is lost, so it answers each further question. Its work runs to its end, unless it was abandoned.
  streams_.synchronize();
}

void Flight::finish(Stage& stage) {
  {
    AttributedHere const attributed(compute(), finish_work_);
    stage.finish(compute());
  }
  if (auto const refusal = device_.take_refusal()) throw *refusal;
  if (!streams_.wait_idle(compute())) throw run_out_of_patience();
  finish_work_.rethrow();
}

Error Flight::run_out_of_patience() {
  Error why = out_of_patience(compute().kind(), patience_);
  std::uint64_t const oldest = first_not_passed();
  // This is asked before the device is abandoned: an abandoned device answers nothing.
  SlotBatch const& batch = slot_of(oldest).batch;
  std::string const at = oldest <= put_ ? streams_.step_of(*batch.events, batch.path) : "device";
  device_.abandon(why);
  if (oldest <= put_ && slot_of(oldest).failure == nullptr) {
    std::string const reason = std::string(why.what()) + " This is the oldest tile it had.";
    slot_of(oldest).failure = std::make_shared<Failure const>(Failure{at, reason, why.kind()});
  }
  return why;
}

/// The oldest tile that the device has not passed, as far as it says; the next to be put, if it has passed all.
std::uint64_t Flight::first_not_passed() const noexcept {
  std::uint64_t number = retired_ + 1;
  try {
    while (number <= put_ && passed(number)) ++number;
  } catch (Error const&) {
  }
  return number;
}

/// Times are a help and no promise: a tile does not fail because they are missing.
void Flight::note_times(std::uint64_t oldest, bool lost) noexcept {
  SlotBatch const& batch = slot_of(oldest).batch;
  if (!batch.timed || lost || batch.let_go) return;
  std::uint64_t const youngest = oldest + batch.size - 1;
  sequences_.clear();
  bool any = false;
  for (std::uint64_t number = oldest; number <= youngest; ++number) {
    FlightSlot const& slot = slot_of(number);
    auto const sequence = slot.loan->sequence;
    bool const wanted = slot.failure == nullptr && timer_->wants(sequence);
    any = any || wanted;
    sequences_.push_back(wanted ? std::optional(sequence) : std::nullopt);
  }
  try {
    std::size_t const place = youngest % slots_.size();
    any ? timer_->note(place, sequences_) : timer_->pass(place);
  } catch (std::exception const&) {
  }
}

/// Notes what the tile's work threw, if it threw. The device has passed that work, so it throws no more.
void Flight::note_thrown(FlightSlot& slot) const noexcept {
  if (slot.failure != nullptr) return;
  try {
    slot.work->rethrow();
  } catch (...) {
    slot.failure = current_failure("stage", ErrorKind::device_refused);
  }
}

/// Looks at the zones, once the device has passed what was launched for the tile.
void Flight::look_at_zones(FlightSlot& slot) const noexcept {
  try {
    if (auto wrong = RedZones::look(slot.parts, *slot.loan)) slot.failure = std::move(wrong);
  } catch (...) {
    slot.failure = current_failure("stage", ErrorKind::bad_argument);
  }
}

Completion Flight::retire(std::shared_ptr<Failure const> const& loss) {
  FlightSlot& slot = slot_of(++retired_);
  note_thrown(slot);
  if (red_zones_ && slot.failure == nullptr && loss == nullptr) look_at_zones(slot);
  // Times are noted now, while all tiles of the batch are still in their slots.
  if (slot.batch.leads) note_times(retired_, loss != nullptr);
  paths_.end_mapped(std::exchange(slot.mapped_bytes, 0));
  auto failure = std::exchange(slot.failure, nullptr);
  auto const of_device = [](auto const& one) { return one->kind == ErrorKind::device_lost; };
  // Hooks are told now, while the loan keeps its bytes.
  bool const lost = loss != nullptr && of_device(loss) && (failure == nullptr || of_device(failure));
  if (lost) {
    for (auto const& hook : hooks_) hook->lost(*slot.loan, lane_);
  }
  if (failure == nullptr) failure = loss;
  if (failure == nullptr) return Completion::done(std::move(slot.loan));
  slot.loan->produced = 0;
  return Completion::failed(std::move(slot.loan), std::move(failure));
}

}  // namespace penstock
