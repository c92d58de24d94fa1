// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/flight.hpp"

#include <string>
#include <utility>

#include "penstock/core/current_failure.hpp"
#include "penstock/core/event_count.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/lane/flight_clock.hpp"
#include "penstock/lane/flight_events.hpp"

namespace penstock {

/// The device memory of one tile, the events that order its three steps, and the tile itself while it is there.
struct Flight::Slot {
  Slot(Device& device, TileShape shape, bool split)
      : memory(device.allocate(Pool::slab_bytes(shape, 1))),
        input(memory.bytes().first(shape.input_bytes)),
        output(shape.in_place ? input : memory.bytes().last(memory.bytes().size() - output_start(shape))),
        plain(device, split) {
    output = output.first(shape.output_bytes);
  }
  static std::size_t output_start(TileShape shape) { return Pool::slab_bytes({.input_bytes = shape.input_bytes}, 1); }

  DeviceMemory memory;
  std::span<std::byte> input;
  std::span<std::byte> output;
  FlightEvents plain;
  FlightEvents* events = &plain;  ///< The flight's clock has others, for tiles that are timed.
  Loan loan;
  std::shared_ptr<Failure const> failure;
  /// The device let go of it, seen by waiting because it refused to record `landed`.
  bool settled = false;
  bool timed = false;  ///< When its tile is where is known to the flight's clock.
};

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

std::optional<Stream> stream_if(bool wanted, Device& device, int priority) {
  if (!wanted) return std::nullopt;
  return device.make_stream({.priority = priority});
}

}  // namespace

Flight::Flight(Device& device, TileShape shape, FlightOptions options)
    : device_(device),
      shape_(shape),
      patience_(options.patience),
      split_(options.shape == LaneShape::split),
      own_compute_(stream_if(options.streams == StreamMode::own, device, options.priority)),
      own_upload_(stream_if(split_, device, options.priority)),
      own_download_(stream_if(split_, device, options.priority)),
      compute_(own_compute_ ? StreamRef(*own_compute_) : device.thread_default_stream()),
      upload_(own_upload_ ? StreamRef(*own_upload_) : compute_),
      download_(own_download_ ? StreamRef(*own_download_) : compute_),
      settled_(device.make_event()) {
  if (options.patience.count() <= 0) {
    throw Error(ErrorKind::bad_argument,
                "A lane needs some patience with its device: leave it at 60 s, or ask for more.");
  }
  if (options.slots == 0) throw Error(ErrorKind::bad_argument, "A lane needs at least one slot: ask for 1 or more.");
  slots_.reserve(options.slots);
  for (unsigned i = 0; i < options.slots; ++i) slots_.push_back(std::make_unique<Slot>(device, shape, split_));
  if (options.recorder == nullptr) return;
  FlightClockOptions const clock{.lane = options.lane,
                                 .slots = options.slots,
                                 .split = split_,
                                 .shared = compute_ == device.legacy_default_stream()};
  clock_ = std::make_unique<FlightClock>(device, *options.recorder, clock);
}

Flight::~Flight() {
  // The default stream is not ours to destroy, so nobody else would wait for it before the slots' memory goes.
  settle();
}

void Flight::settle() noexcept {
  try {
    // One after the other, so that the device is given time for each.
    for (std::uint64_t number = retired_ + 1; number <= put_; ++number) {
      await([&] { return passed(number); });
    }
    for (StreamRef const stream : {upload_, compute_, download_}) settle(stream);
  } catch (Error const&) {
    // It is lost, so whoever asks for more is told. What runs on it runs to its end, but on one that was abandoned.
    for (StreamRef const stream : {upload_, compute_, download_}) {
      try {
        stream.synchronize();
      } catch (Error const&) {
      }
    }
  }
}

void Flight::settle_compute() {
  settle(compute_);
}

/// Waits for what is in the stream now, and not for what others may put there later: it may be everybody's.
void Flight::settle(StreamRef stream) {
  bool marked = true;
  try {
    stream.record(settled_);
  } catch (Error const& error) {
    if (error.sticky()) throw;
    marked = false;
  }
  await([&] { return marked ? settled_.passed() : stream.idle(); });
}

/// Asks and does not wait, because nobody is called back from a wait.
template <class Passed>
void Flight::await(Passed passed) {
  EventCount never;
  auto const start = std::chrono::steady_clock::now();
  for (;;) {
    try {
      if (never.await(passed, std::chrono::microseconds(100), std::chrono::microseconds(150))) return;
    } catch (Error const& error) {
      if (error.sticky()) throw;  // Else it is asked again.
    }
    if (std::chrono::steady_clock::now() - start < patience_) continue;
    throw run_out_of_patience();
  }
}

Error Flight::run_out_of_patience() {
  Error why = out_of_patience(compute_.kind(), patience_);
  std::uint64_t const oldest = first_not_passed();
  // Asked before it is abandoned, as it answers nothing after.
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
  if (number > put_ || !split_) return "device";
  Slot const& slot = slot_of(number);
  try {
    if (!slot.events->uploaded->passed()) return "upload";
    return slot.events->computed->passed() ? "download" : "stage";
  } catch (Error const&) {
    return "device";
  }
}

Flight::Slot& Flight::slot_of(std::uint64_t number) const {
  return *slots_[number % slots_.size()];
}

EventRef Flight::landed() const {
  return slot_of(put_).events->landed;
}

void Flight::put(Loan loan, Stage& stage) {
  Slot& slot = slot_of(++put_);
  slot.loan = std::move(loan);
  slot.failure = nullptr;
  slot.settled = false;
  slot.timed = clock_ != nullptr && clock_->wants(slot.loan->sequence);
  slot.events = slot.timed ? &clock_->open(put_ % slots_.size(), put_) : &slot.plain;
  char const* at = "upload";
  bool enqueued = false;
  try {
    enqueue(slot, stage, at);
    enqueued = true;
  } catch (...) {
    auto failure = current_failure(at, ErrorKind::device_refused);
    // Whatever tile caused it, this one only met it. But what a stage throws may be of another device.
    if (failure->kind == ErrorKind::device_lost && device_.lost()) throw;
    slot.failure = std::move(failure);
    static_cast<void>(device_.take_refusal());  // The stage may have left one when it threw; it is not the next tile's.
  }
  seal(slot, enqueued);
}

/// Tells the clock that a step comes next, if the tile's times are wanted.
void Flight::mark(Step step, StreamRef stream, Slot const& slot) {
  if (slot.timed) clock_->begin(put_ % slots_.size(), step, stream);
}

void Flight::enqueue(Slot& slot, Stage& stage, char const*& at) {
  Tile& tile = *slot.loan;
  if (std::size_t const claimed = tile.filled; claimed > shape_.input_bytes) {
    tile.filled = 0;
    throw Error(ErrorKind::bad_argument, "The tile says that " + std::to_string(claimed) +
                                             " bytes of it are filled, but its input part has " +
                                             std::to_string(shape_.input_bytes) + ".");
  }
  mark(Step::upload, upload_, slot);
  upload_.upload(slot.input.first(tile.filled), tile.filled_input());
  if (split_) {
    upload_.record(*slot.events->uploaded);
    compute_.wait(*slot.events->uploaded);
  }

  at = "stage";
  DeviceTile const seen{slot.input.first(tile.filled), slot.output, tile.sequence, tile.tag};
  mark(Step::stage, compute_, slot);
  std::size_t const produced = stage.run(seen, compute_);
  if (auto const refusal = device_.take_refusal()) throw *refusal;
  if (produced > slot.output.size()) {
    throw Error(ErrorKind::bad_argument, "The stage says that it produced " + std::to_string(produced) +
                                             " bytes, but a tile's output part has " +
                                             std::to_string(slot.output.size()) + ".");
  }
  tile.produced = produced;

  at = "download";
  if (split_) {
    compute_.record(*slot.events->computed);
    download_.wait(*slot.events->computed);
  }
  mark(Step::download, download_, slot);
  download_.download(tile.output().first(produced), slot.output.first(produced));
}

/// Records `landed` where every stream has passed the tile, also if only some of its steps were enqueued: until then
/// the device may read or write its memory.
void Flight::seal(Slot& slot, bool enqueued) {
  try {
    if (!enqueued && split_) {
      upload_.record(*slot.events->uploaded);
      compute_.wait(*slot.events->uploaded);
      compute_.record(*slot.events->computed);
      download_.wait(*slot.events->computed);
    }
    download_.record(slot.events->landed);
  } catch (Error const& error) {
    if (error.sticky()) throw;
    settle();
    // One that was abandoned has not let go: whoever asks is told so, and the tile is stranded.
    slot.settled = !device_.abandoned();
    if (slot.failure == nullptr)
      slot.failure = std::make_shared<Failure const>(Failure{"signal", error.what(), error.kind()});
  }
}

bool Flight::passed(std::uint64_t number) const {
  Slot const& slot = slot_of(number);
  return slot.settled || slot.events->landed.passed();
}

/// Times are a help and no promise: a tile does not fail for want of them.
void Flight::note_times(Slot const& slot, bool done) noexcept {
  try {
    std::size_t const place = retired_ % slots_.size();
    done ? clock_->note(place, slot.loan->sequence) : clock_->pass(place);
  } catch (Error const&) {
  }
}

Completion Flight::retire(std::shared_ptr<Failure const> const& loss) {
  Slot& slot = slot_of(++retired_);
  auto failure = std::exchange(slot.failure, nullptr);
  if (failure == nullptr) failure = loss;
  if (slot.timed && loss == nullptr && !slot.settled) note_times(slot, failure == nullptr);
  if (failure == nullptr) {
    return Completion::done(std::move(slot.loan));
  }
  slot.loan->produced = 0;
  return Completion::failed(std::move(slot.loan), std::move(failure));
}

}  // namespace penstock
