// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/flight.hpp"

#include <string>
#include <utility>

#include "penstock/core/current_failure.hpp"
#include "penstock/core/event_count.hpp"
#include "penstock/core/pool.hpp"

namespace penstock {

/// The device memory of one tile, the events that order its three steps, and the tile itself while it is there.
struct Flight::Slot {
  Slot(Device& device, TileShape shape, bool split)
      : memory(device.allocate(Pool::slab_bytes(shape, 1))),
        input(memory.bytes().first(shape.input_bytes)),
        output(shape.in_place ? input : memory.bytes().last(memory.bytes().size() - output_start(shape))),
        uploaded(split ? std::optional<Event>(device.make_event()) : std::nullopt),
        computed(split ? std::optional<Event>(device.make_event()) : std::nullopt),
        landed(device.make_event()) {
    output = output.first(shape.output_bytes);
  }
  static std::size_t output_start(TileShape shape) { return Pool::slab_bytes({.input_bytes = shape.input_bytes}, 1); }

  DeviceMemory memory;
  std::span<std::byte> input;
  std::span<std::byte> output;
  std::optional<Event> uploaded;  ///< This one and the next only where streams are split.
  std::optional<Event> computed;
  Event landed;
  Loan loan;
  std::shared_ptr<Failure const> failure;
  /// The device let go of it, seen by waiting because it refused to record `landed`.
  bool settled = false;
};

Error out_of_patience(DeviceKind device, std::chrono::nanoseconds patience) {
  auto const milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  return Error(ErrorKind::device_lost,
               std::string(device == DeviceKind::cuda ? "The GPU" : "The CPU device") + " finished nothing for " +
                   std::to_string(milliseconds) +
                   " ms: a kernel does not end, or waits for what does not come. It is given up, with what it holds, "
                   "until the process ends. Find the kernel, or let the lanes have more patience.");
}

namespace {

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
      download_(own_download_ ? StreamRef(*own_download_) : compute_) {
  if (options.slots == 0) throw Error(ErrorKind::bad_argument, "A lane needs at least one slot: ask for 1 or more.");
  slots_.reserve(options.slots);
  for (unsigned i = 0; i < options.slots; ++i) slots_.push_back(std::make_unique<Slot>(device, shape, split_));
}

Flight::~Flight() {
  // The default stream is not ours to destroy, so nobody else would wait for it before the slots' memory goes.
  settle();
}

void Flight::settle() noexcept {
  for (StreamRef const stream : {upload_, compute_, download_}) {
    try {
      settle(stream);
    } catch (Error const&) {  // Lost: it was waited for all the same, and whoever asks for more is told.
    }
  }
}

/// Asks and does not wait: who waits cannot be called back from it.
void Flight::settle(StreamRef stream) {
  EventCount never;
  auto const start = std::chrono::steady_clock::now();
  try {
    while (
        !never.await([&] { return stream.idle(); }, std::chrono::microseconds(100), std::chrono::microseconds(150))) {
      if (std::chrono::steady_clock::now() - start >= patience_)
        device_.abandon(out_of_patience(stream.kind(), patience_));
    }
  } catch (Error const&) {
    // It does not answer, or is lost; an abandoned device says so and lets nobody wait.
    stream.synchronize();
  }
}

char const* Flight::oldest_is_at() const noexcept {
  if (empty() || !split_) return "device";
  Slot const& oldest = slot_of(retired_ + 1);
  try {
    if (!oldest.uploaded->passed()) return "upload";
    return oldest.computed->passed() ? "download" : "stage";
  } catch (Error const&) {
    return "device";
  }
}

Flight::Slot& Flight::slot_of(std::uint64_t number) const {
  return *slots_[number % slots_.size()];
}

EventRef Flight::landed() const {
  return slot_of(put_).landed;
}

void Flight::put(Loan loan, Stage& stage) {
  Slot& slot = slot_of(++put_);
  slot.loan = std::move(loan);
  slot.failure = nullptr;
  slot.settled = false;
  char const* at = "upload";
  bool enqueued = false;
  try {
    enqueue(slot, stage, at);
    enqueued = true;
  } catch (...) {
    auto failure = current_failure(at, ErrorKind::device_refused);
    if (failure->kind == ErrorKind::device_lost) throw;  // Whatever tile caused it, this one only met it.
    slot.failure = std::move(failure);
    static_cast<void>(device_.take_refusal());  // The stage may have left one when it threw; it is not the next tile's.
  }
  seal(slot, enqueued);
}

void Flight::enqueue(Slot& slot, Stage& stage, char const*& at) {
  Tile& tile = *slot.loan;
  if (std::size_t const claimed = tile.filled; claimed > shape_.input_bytes) {
    tile.filled = 0;
    throw Error(ErrorKind::bad_argument, "The tile says that " + std::to_string(claimed) +
                                             " bytes of it are filled, but its input part has " +
                                             std::to_string(shape_.input_bytes) + ".");
  }
  upload_.upload(slot.input.first(tile.filled), tile.filled_input());
  if (split_) {
    upload_.record(*slot.uploaded);
    compute_.wait(*slot.uploaded);
  }

  at = "stage";
  DeviceTile const seen{slot.input.first(tile.filled), slot.output, tile.sequence, tile.tag};
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
    compute_.record(*slot.computed);
    download_.wait(*slot.computed);
  }
  download_.download(tile.output().first(produced), slot.output.first(produced));
}

/// Records `landed` where every stream has passed the tile, also if only some of its steps were enqueued: until then
/// the device may read or write its memory.
void Flight::seal(Slot& slot, bool enqueued) {
  try {
    if (!enqueued && split_) {
      upload_.record(*slot.uploaded);
      compute_.wait(*slot.uploaded);
      compute_.record(*slot.computed);
      download_.wait(*slot.computed);
    }
    download_.record(slot.landed);
  } catch (Error const& error) {
    if (error.sticky()) throw;
    settle();
    slot.settled = true;
    if (slot.failure == nullptr)
      slot.failure = std::make_shared<Failure const>(Failure{"signal", error.what(), error.kind()});
  }
}

bool Flight::passed(std::uint64_t number) const {
  Slot const& slot = slot_of(number);
  return slot.settled || slot.landed.passed();
}

Completion Flight::retire(std::shared_ptr<Failure const> const& loss) {
  Slot& slot = slot_of(++retired_);
  auto failure = std::exchange(slot.failure, nullptr);
  if (failure == nullptr) failure = loss;
  if (failure == nullptr) return Completion::done(std::move(slot.loan));
  slot.loan->produced = 0;
  return Completion::failed(std::move(slot.loan), std::move(failure));
}

}  // namespace penstock
