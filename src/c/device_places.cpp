// SPDX-License-Identifier: Apache-2.0
#include "c/device_places.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <thread>
#include <utility>

namespace penstock::c {
namespace {

/// Neighbours must be so in memory, also for stages that take them as one; 256 is the alignment of tiles.
constexpr std::size_t place_alignment = 256;

std::size_t rounded(std::size_t bytes) noexcept {
  return (bytes + place_alignment - 1) / place_alignment * place_alignment;
}

/// A stage whose results stay in places. Without a stage of the program it brings the first input there, which it sees
/// in memory of the host.
class KeepingStage final : public Stage {
 public:
  KeepingStage(DevicePlaces& all, PlacesOnDevice& on, std::unique_ptr<Stage> inner, ResultKind kind)
      : all_(all), on_(on), inner_(std::move(inner)), by_one_copy_(kind == ResultKind::input_by_one_copy) {}

  Stage& inner() const noexcept { return *inner_; }
  void prepare(StreamRef stream) override {
    if (inner_ != nullptr) inner_->prepare(stream);
  }
  void finish(StreamRef stream) override {
    if (inner_ != nullptr) inner_->finish(stream);
  }
  Promises promises() const noexcept override {
    if (inner_ == nullptr) return {.reads_once = by_one_copy_, .any_alignment = true};
    Promises promises = inner_->promises();
    // A graph would have the place of one tile.
    promises.capturable = false;
    return promises;
  }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    void const* waited = nullptr;
    // After a batch that the stage did not take, its tiles have their places.
    bool const has_place = next_placed_ < placed_.size() && placed_[next_placed_].index == tile.index &&
                           placed_[next_placed_].sequence == tile.sequence;
    DeviceTile const placed = has_place ? placed_[next_placed_++] : begin(tile, stream, waited);
    on_.finish(tile, inner_ != nullptr ? inner_->run(placed, stream) : copy(placed, stream));
    return 0;
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    placed_.clear();
    next_placed_ = 0;
    void const* waited = nullptr;
    for (DeviceTile const& tile : tiles) placed_.push_back(begin(tile, stream, waited));
    if (inner_ == nullptr) {
      copy_all(stream);
      for (std::size_t i = 0; i < tiles.size(); ++i) produced[i] = placed_[i].input.size();
    } else if (!inner_->run_batch(placed_, produced, stream)) {
      return false;
    }
    for (std::size_t i = 0; i < tiles.size(); ++i) on_.finish(tiles[i], std::exchange(produced[i], 0));
    placed_.clear();
    return true;
  }

 private:
  DeviceTile begin(DeviceTile const& tile, StreamRef stream, void const*& waited) {
    all_.set_device_of(tile.index, on_);
    return on_.begin(tile, stream, waited);
  }
  std::size_t copy(DeviceTile const& tile, StreamRef stream) const {
    auto const place = tile.output.first(tile.input.size());
    if (by_one_copy_) {
      stream.upload(place, {tile.input.address(), tile.input.size()});
    } else if (!tile.input.empty()) {
      stream.copy(place, tile.input);
    }
    return tile.input.size();
  }
  /// Copies neighbours at once.
  void copy_all(StreamRef stream) {
    // A place may be larger than what the tile has.
    for (DeviceTile& tile : placed_) tile.output = tile.output.first(tile.input.size());
    for_each_stretch(placed_, [&](DeviceTile const& stretch, std::size_t) { copy(stretch, stream); });
  }

  DevicePlaces& all_;
  PlacesOnDevice& on_;
  std::unique_ptr<Stage> const inner_;
  bool const by_one_copy_;
  std::vector<DeviceTile> placed_;
  std::size_t next_placed_ = 0;
};

}  // namespace

PlacesOnDevice::PlacesOnDevice(Device& device, std::size_t tiles, std::size_t bytes)
    : device_(device),
      on_gpu_(device.info().kind == DeviceKind::cuda),
      ordinal_(device.info().ordinal),
      bytes_(bytes),
      memory_(device.allocate(2 * tiles * rounded(bytes))),
      places_(2 * tiles),
      place_of_(tiles, nowhere) {
  for (std::size_t i = 0; on_gpu_ && i < places_.size(); ++i) {
    uses_.push_back(std::make_unique<Use>(device.make_event()));
    free_.push_back(uses_.back().get());
  }
}

std::uint32_t PlacesOnDevice::lend(std::uint32_t tile) {
  std::scoped_lock const lock(mutex_);
  std::uint32_t& place = place_of_[tile];
  if (place != nowhere) places_[place].lent = false;
  // At least half of them are free.
  while (places_[next_].lent) next_ = (next_ + 1) % places_.size();
  place = static_cast<std::uint32_t>(next_);
  places_[place].lent = true;
  next_ = (next_ + 1) % places_.size();
  return place;
}

DeviceTile PlacesOnDevice::begin(DeviceTile const& tile, StreamRef stream, void const*& waited) {
  std::uint32_t const lent = lend(tile.index);
  Place& place = places_[lent];
  while (place.use_count > 0) {
    Use* const use = place.uses[--place.use_count];
    if (use == nullptr) continue;
    // Tiles that went home together have one.
    if (use != waited) stream.wait(use->event);
    waited = use;
    if (use->places.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      std::scoped_lock const lock(mutex_);
      free_.push_back(use);
    }
  }
  DeviceTile placed = tile;
  placed.output = memory_.bytes().subspan(lent * rounded(bytes_), bytes_);
  return placed;
}

void PlacesOnDevice::finish(DeviceTile const& tile, std::size_t bytes) {
  if (bytes > bytes_) {
    throw Error(ErrorKind::program, "The stage says that its result has " + std::to_string(bytes) +
                                        " bytes, but a place for results has " + std::to_string(bytes_) +
                                        ": make the output of the tiles larger.");
  }
  places_[place_of_[tile.index]].filled = bytes;
}

penstock_device_bytes PlacesOnDevice::of(std::uint32_t index, bool done) const noexcept {
  penstock_device_bytes view{};
  view.size = sizeof(view);
  std::uint32_t const place = place_of_[index];
  view.data = memory_.bytes().data() + (place == nowhere ? 0 : place) * rounded(bytes_);
  view.bytes = done && place != nowhere ? places_[place].filled : 0;
  view.on_gpu = on_gpu_ ? 1 : 0;
  view.ordinal = ordinal_;
  return view;
}

/// One that no place has.
PlacesOnDevice::Use& PlacesOnDevice::free_use() {
  {
    std::scoped_lock const lock(mutex_);
    if (!free_.empty()) {
      Use& use = *free_.back();
      free_.pop_back();
      return use;
    }
  }
  // There are as many as places, so tiles are used in several streams. To make an event changes the thread's device, so
  // a thread of its own does.
  std::unique_ptr<Use> made;
  std::exception_ptr problem;
  std::thread([&] {
    try {
      made = std::make_unique<Use>(device_.make_event());
    } catch (...) {
      problem = std::current_exception();
    }
  }).join();
  if (problem) std::rethrow_exception(problem);
  std::scoped_lock const lock(mutex_);
  free_.reserve(uses_.size() + 1);
  uses_.push_back(std::move(made));
  return *uses_.back();
}

void PlacesOnDevice::used_in(std::span<std::uint32_t const> indices, void* stream) {
  if (!on_gpu_ || indices.empty()) return;
  for (std::uint32_t const index : indices) {
    if (places_[place_of_[index]].use_count < most_uses) continue;
    throw Error(ErrorKind::bad_argument, "A tile is used in more than " + std::to_string(most_uses) +
                                             " streams: let them wait for each other, and name the last.");
  }
  Use& use = free_use();
  try {
    device_.record_in(stream, use.event, false);
  } catch (...) {
    std::scoped_lock const lock(mutex_);
    free_.push_back(&use);
    throw;
  }
  use.places = indices.size();
  for (std::uint32_t const index : indices) {
    Place& place = places_[place_of_[index]];
    place.uses[place.use_count++] = &use;
  }
}

DevicePlaces::DevicePlaces(DeviceGroup const& devices, std::size_t tiles, std::size_t bytes, ResultKind kind)
    : bytes_(bytes), kind_(kind), device_of_(tiles) {
  for (Device* const device : devices.all()) all_.push_back(std::make_unique<PlacesOnDevice>(*device, tiles, bytes));
}

PlacesOnDevice& DevicePlaces::on(Device const& device) {
  return **std::ranges::find(all_, &device, [](auto const& one) { return &one->device(); });
}

Stages DevicePlaces::keep(Stages const& stages) {
  if (are_inputs()) {
    throw Error(
        ErrorKind::bad_argument,
        "Without an output the results on the device are the inputs: set output_bytes for what the stage writes.");
  }
  Stages kept = stages;
  kept.make = [this, make = stages.make](StageContext const& context) {
    return std::make_unique<KeepingStage>(*this, on(context.device), make(context), kind_);
  };
  if (stages.merge)
    kept.merge = [merge = stages.merge](Stage& stage) { merge(static_cast<KeepingStage&>(stage).inner()); };
  return kept;
}

Stages DevicePlaces::keep_inputs() {
  return {.make =
              [this](StageContext const& context) {
                return std::make_unique<KeepingStage>(*this, on(context.device), nullptr, kind_);
              },
          .merge = {},
          .order = {},
          .types = {}};
}

Sink DevicePlaces::told(Sink sink) {
  return [this, sink = std::move(sink)](Completion& completion) {
    completed(*completion.loan, completion.outcome);
    sink(completion);
  };
}

void DevicePlaces::completed(Tile const& tile, Outcome outcome) noexcept {
  if (outcome != Outcome::done) device_of_[tile.index()] = nullptr;
}

penstock_device_bytes DevicePlaces::of(Tile const& tile) const noexcept {
  PlacesOnDevice const* const on = device_of_[tile.index()];
  return (on != nullptr ? *on : *all_.front()).of(tile.index(), on != nullptr);
}

void DevicePlaces::used_in(std::span<Tile const* const> tiles, void* stream) {
  std::vector<std::uint32_t> indices;
  for (auto const& on : all_) {
    indices.clear();
    for (Tile const* const tile : tiles) {
      if (device_of_[tile->index()] == on.get()) indices.push_back(tile->index());
    }
    on->used_in(indices, stream);
  }
}

}  // namespace penstock::c
