// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/flight.hpp"

#include <new>
#include <string>
#include <utility>

#include "penstock/core/current_failure.hpp"
#include "penstock/core/event_count.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/lane/flight_clock.hpp"
#include "penstock/lane/flight_slot.hpp"
#include "penstock/lane/patience.hpp"

namespace penstock {

namespace {

/// Why a device is abandoned that has finished no tile for `patience`.
Error out_of_patience(DeviceKind device, std::chrono::nanoseconds patience) {
  auto const milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  return Error(ErrorKind::device_lost,
               std::string(device == DeviceKind::cuda ? "The GPU" : "The CPU device") +
                   " finished none of a lane's tiles for " + std::to_string(milliseconds) +
                   " ms: a kernel does not end or waits for what does not come, or others take all of the device. It "
                   "is given up, "
                   "with what it holds, until the process ends. Find the kernel, or let the lanes have more patience.");
}

FlightOptions expect_sound(FlightOptions options) {
  if (options.patience.count() <= 0) {
    throw Error(ErrorKind::bad_argument,
                "A lane needs some patience with its device: leave it at 60 s, or ask for more.");
  }
  if (options.slots == 0) throw Error(ErrorKind::bad_argument, "A lane needs at least one slot: ask for 1 or more.");
  return options;
}

std::optional<Stream> stream_if(bool wanted, Device& device, int priority) {
  if (!wanted) return std::nullopt;
  return device.make_stream({.priority = priority});
}

}  // namespace

Flight::Flight(Device& device, TileShape shape, FlightOptions options)
    : device_(device),
      shape_(shape),
      patience_(expect_sound(options).patience),
      split_(options.shape != LaneShape::single),
      own_compute_(stream_if(options.streams == StreamMode::own, device, options.priority)),
      own_upload_(stream_if(split_, device, options.priority)),
      own_download_(stream_if(split_, device, options.priority)),
      more_inputs_(shape.more_inputs()),
      compute_(own_compute_ ? StreamRef(*own_compute_) : device.thread_default_stream()),
      // In a graph its kernels are as urgent as in the stream where it was captured.
      graphs_(device, options.graphs, compute_, own_compute_ ? options.priority : 0),
      upload_(own_upload_ ? StreamRef(*own_upload_) : compute_),
      download_(own_download_ ? StreamRef(*own_download_) : compute_),
      idle_mark_(device.make_event()),
      transport_(options.transport),
      paths_(device, transport_,
             options.mapped_bytes.value_or(compute_.kind() == DeviceKind::cpu ? unbounded_mapped_bytes
                                                                              : most_mapped_bytes),
             shape, options.tiles),
      memory_(device.allocate(transport_ == Transport::mapped ? 0 : Pool::slab_bytes(shape, options.slots))) {
  for (std::size_t i = 0; split_ && i < more_inputs_.size(); ++i) {
    own_more_uploads_.push_back(device.make_stream({.priority = options.priority}));
  }
  slots_.reserve(options.slots);
  for (std::size_t i = 0; i < options.slots; ++i) {
    Slot& slot = *slots_.emplace_back(std::make_unique<Slot>(device, split_, more_inputs_.size()));
    if (transport_ != Transport::mapped) slot.parts = shape.cut(memory_.bytes(), options.slots, i);
  }
  live_.reserve(options.slots);
  copies_.reserve(options.slots);
  seen_.reserve(options.slots);
  produced_.reserve(options.slots);
  sequences_.reserve(options.slots);
  if (options.recorder == nullptr) return;
  FlightClockOptions const clock{.lane = options.lane,
                                 .slots = options.slots,
                                 .split = split_,
                                 .more_inputs = more_inputs_.size(),
                                 .shared = compute_ == device.legacy_default_stream()};
  clock_ = std::make_unique<FlightClock>(device, *options.recorder, clock);
}

Flight::~Flight() {
  // The flight does not own the default stream, so no other code would wait for it before the slots' memory is freed.
  wait_idle();
}

void Flight::prepare(Stage const& stage) {
  // Mapped tiles are never captured.
  if (transport_ != Transport::mapped) graphs_.prepare(stage);
}

void Flight::wait_idle() noexcept {
  for (;;) {
    try {
      // One tile after the other, so that the device gets time for each.
      for (std::uint64_t number = retired_ + 1; number <= put_; ++number) {
        await([&] { return passed(number); });
      }
      for (StreamRef const stream : {upload_, compute_, download_}) wait_idle(stream);
      for (StreamRef const stream : own_more_uploads_) wait_idle(stream);
      return;
    } catch (Error const&) {
      break;
    } catch (std::bad_alloc const&) {
      // To abandon the device takes memory, and there was none. So the device gets the same time again.
    }
  }
  // The device is lost, so it answers each further question. Its work runs to its end, unless it was abandoned.
  auto const wait_for = [](StreamRef stream) {
    try {
      stream.synchronize();
    } catch (std::exception const&) {
    }
  };
  for (StreamRef const stream : {upload_, compute_, download_}) wait_for(stream);
  for (StreamRef const stream : own_more_uploads_) wait_for(stream);
}

void Flight::finish(Stage& stage) {
  {
    AttributedHere const attributed(compute_, finish_work_);
    stage.finish(compute_);
  }
  if (auto const refusal = device_.take_refusal()) throw *refusal;
  wait_idle(compute_);
  finish_work_.rethrow();
}

/// Waits for what is in the stream now, not for what others may put there later: other threads may share the stream. If
/// that cannot be marked, for example for lack of memory, waits for a moment at which the stream is empty.
void Flight::wait_idle(StreamRef stream) {
  bool marked = true;
  try {
    stream.record(idle_mark_);
  } catch (Error const& error) {
    if (error.sticky()) throw;
    marked = false;
  } catch (std::bad_alloc const&) {
    marked = false;
  }
  await([&] { return marked ? idle_mark_.passed() : stream.idle(); });
}

/// Asks and does not wait in the device, because nothing can call a thread back from such a wait.
template <class Passed>
void Flight::await(Passed passed) {
  constexpr std::chrono::microseconds between_looks{150};
  EventCount never;
  Patience patience(patience_, between_looks, std::chrono::steady_clock::now());
  auto const answer = [&] {
    try {
      return passed();
    } catch (Error const& error) {
      if (error.sticky()) throw;
      // A device may be gone and not say so in each answer, for example a GPU that the application has reset.
      if (auto const loss = device_.lost()) throw Error(*loss);
    } catch (std::bad_alloc const&) {
    }
    return false;  // The device is asked again.
  };
  while (!never.await(answer, std::chrono::microseconds(100), between_looks)) {
    if (patience.runs_out(std::chrono::steady_clock::now())) throw run_out_of_patience();
  }
}

Error Flight::run_out_of_patience() {
  Error why = out_of_patience(compute_.kind(), patience_);
  std::uint64_t const oldest = first_not_passed();
  // Asked before the device is abandoned: an abandoned device answers nothing.
  std::string const at = step_of(oldest);
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

/// How far a tile is known to be: "upload", "stage" or "download"; "device" if nothing tells.
char const* Flight::step_of(std::uint64_t number) const noexcept {
  if (number > put_) return "device";
  Slot const& slot = slot_of(number);
  if (slot.path == TransferPath::mapped) return "stage";  // A mapped tile has no other step.
  // Where all steps are in one stream the events between them are not recorded.
  if (!split_) return "device";
  try {
    if (!slot.events->uploaded->passed()) return "upload";
    for (Event const& more : slot.events->more_uploaded) {
      if (!more.passed()) return "upload";
    }
    return slot.events->computed->passed() ? "download" : "stage";
  } catch (Error const&) {
    return "device";
  }
}

Flight::Slot& Flight::slot_of(std::uint64_t number) const {
  return *slots_[number % slots_.size()];
}

void Flight::drop_calls() const {
  download_.drop_calls();
  // The calls of mapped tiles are there.
  if (!(compute_ == download_)) compute_.drop_calls();
}

void Flight::note_through(PathChooser::Clock::time_point now, bool failed) noexcept {
  if (paths_.watches()) paths_.through(now, failed || failed_ || work_failed());
}

/// True if work of the batch that was put last has failed.
bool Flight::work_failed() const noexcept {
  for (std::uint64_t number = oldest_; number <= put_; ++number) {
    if (slot_of(number).work->failed()) return true;
  }
  return false;
}

EventRef Flight::landed() const {
  return slot_of(put_).events->landed;
}

bool Flight::passed(std::uint64_t number) const {
  Slot const& slot = slot_of(number);
  return slot.let_go || slot.events->landed.passed();
}

/// Times are a help and no promise: a tile does not fail because they are missing.
void Flight::note_times(std::uint64_t oldest, bool lost) noexcept {
  Slot const& first = slot_of(oldest);
  if (!first.timed || lost || first.let_go) return;
  std::uint64_t const youngest = oldest + first.batch - 1;
  sequences_.clear();
  bool any = false;
  for (std::uint64_t number = oldest; number <= youngest; ++number) {
    Slot const& slot = slot_of(number);
    auto const sequence = slot.loan->sequence;
    bool const wanted = slot.failure == nullptr && clock_->wants(sequence);
    any = any || wanted;
    sequences_.push_back(wanted ? std::optional(sequence) : std::nullopt);
  }
  try {
    std::size_t const place = youngest % slots_.size();
    any ? clock_->note(place, sequences_) : clock_->pass(place);
  } catch (std::exception const&) {
  }
}

/// Notes what the tile's work threw, if it threw. The device has passed that work, so it throws no more.
void Flight::note_thrown(Slot& slot) const noexcept {
  if (slot.failure != nullptr) return;
  try {
    slot.work->rethrow();
  } catch (...) {
    slot.failure = current_failure("stage", ErrorKind::device_refused);
  }
}

Completion Flight::retire(std::shared_ptr<Failure const> const& loss) {
  Slot& slot = slot_of(++retired_);
  note_thrown(slot);
  // Now, while all tiles of the batch are still in their slots.
  if (slot.leads) note_times(retired_, loss != nullptr);
  paths_.end_mapped(std::exchange(slot.mapped_bytes, 0));
  auto failure = std::exchange(slot.failure, nullptr);
  if (failure == nullptr) failure = loss;
  if (failure == nullptr) return Completion::done(std::move(slot.loan));
  slot.loan->produced = 0;
  return Completion::failed(std::move(slot.loan), std::move(failure));
}

}  // namespace penstock
