// SPDX-License-Identifier: Apache-2.0
#include "c/device_places.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace penstock::c {
namespace {

/// Neighbours must be so in memory, also for stages that take them as one; 256 is the alignment of tiles.
constexpr std::size_t alignment = 256;

std::size_t rounded(std::size_t bytes) noexcept {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// A stage whose results stay in places. Without a stage of the program the first input is the result.
class KeepingStage final : public Stage {
 public:
  KeepingStage(DevicePlaces& all, PlacesOnDevice& on, std::unique_ptr<Stage> inner)
      : all_(all), on_(on), inner_(std::move(inner)) {}

  Stage& inner() const noexcept { return *inner_; }
  void prepare(StreamRef stream) override {
    if (inner_ != nullptr) inner_->prepare(stream);
  }
  void finish(StreamRef stream) override {
    if (inner_ != nullptr) inner_->finish(stream);
  }
  Promises promises() const noexcept override {
    if (inner_ == nullptr) return {};
    Promises promises = inner_->promises();
    // A graph would have the place of one tile.
    promises.capturable = false;
    return promises;
  }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    DeviceTile const placed = begin(tile, stream);
    on_.finish(tile, inner_ != nullptr ? inner_->run(placed, stream) : copy(placed, stream));
    return 0;
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    placed_.clear();
    for (DeviceTile const& tile : tiles) placed_.push_back(begin(tile, stream));
    if (inner_ == nullptr) {
      copy_all(stream);
      for (std::size_t i = 0; i < tiles.size(); ++i) produced[i] = placed_[i].input.size();
    } else if (!inner_->run_batch(placed_, produced, stream)) {
      return false;
    }
    for (std::size_t i = 0; i < tiles.size(); ++i) on_.finish(tiles[i], std::exchange(produced[i], 0));
    return true;
  }

 private:
  DeviceTile begin(DeviceTile const& tile, StreamRef stream) {
    all_.set_device_of(tile.index, on_);
    return on_.begin(tile, stream);
  }
  /// As many bytes as there is room for.
  static std::size_t copy(DeviceTile const& tile, StreamRef stream) {
    std::size_t const bytes = std::min(tile.input.size(), tile.output.size());
    if (bytes > 0) stream.copy(tile.output.first(bytes), tile.input.first(bytes));
    return bytes;
  }
  /// Copies neighbours at once.
  void copy_all(StreamRef stream) {
    // Places may be larger than what the tiles have, and smaller.
    for (DeviceTile& tile : placed_) {
      std::size_t const bytes = std::min(tile.input.size(), tile.output.size());
      tile.input = tile.input.first(bytes);
      tile.output = tile.output.first(bytes);
    }
    for_each_stretch(placed_, [&](DeviceTile const& stretch, std::size_t) { copy(stretch, stream); });
  }

  DevicePlaces& all_;
  PlacesOnDevice& on_;
  std::unique_ptr<Stage> const inner_;
  std::vector<DeviceTile> placed_;
};

}  // namespace

PlacesOnDevice::PlacesOnDevice(Device& device, std::size_t tiles, std::size_t bytes)
    : device_(device),
      on_gpu_(device.info().kind == DeviceKind::cuda),
      ordinal_(device.info().ordinal),
      bytes_(bytes),
      memory_(device.allocate(tiles * rounded(bytes))) {
  places_.reserve(tiles);
  while (places_.size() < tiles) places_.push_back({.event = device.make_event()});
}

DeviceTile PlacesOnDevice::begin(DeviceTile const& tile, StreamRef stream) {
  Place& place = places_[tile.index];
  if (place.in_use) stream.wait(place.event);
  place.in_use = false;
  DeviceTile placed = tile;
  placed.output = memory_.bytes().subspan(tile.index * rounded(bytes_), bytes_);
  return placed;
}

void PlacesOnDevice::finish(DeviceTile const& tile, std::size_t bytes) {
  if (bytes > bytes_) {
    throw Error(ErrorKind::program, "The stage says that its result has " + std::to_string(bytes) +
                                        " bytes, but a place for results has " + std::to_string(bytes_) +
                                        ": make the output of the tiles larger.");
  }
  places_[tile.index].filled = bytes;
}

penstock_device_bytes PlacesOnDevice::of(std::uint32_t index, bool done) const noexcept {
  penstock_device_bytes view{};
  view.size = sizeof(view);
  view.data = memory_.bytes().data() + index * rounded(bytes_);
  view.bytes = done ? places_[index].filled : 0;
  view.on_gpu = on_gpu_ ? 1 : 0;
  view.ordinal = ordinal_;
  return view;
}

void PlacesOnDevice::used_in(std::uint32_t index, void* stream) {
  if (!on_gpu_) return;
  Place& place = places_[index];
  device_.record_in(stream, place.event, place.in_use);
  place.in_use = true;
}

DevicePlaces::DevicePlaces(DeviceGroup const& devices, std::size_t tiles, std::size_t bytes)
    : bytes_(bytes), device_of_(tiles) {
  for (Device* const device : devices.all()) all_.push_back(std::make_unique<PlacesOnDevice>(*device, tiles, bytes));
}

PlacesOnDevice& DevicePlaces::on(Device const& device) {
  return **std::ranges::find(all_, &device, [](auto const& one) { return &one->device(); });
}

Stages DevicePlaces::keep(Stages stages) {
  Stages kept = stages;
  kept.make = [this, make = stages.make](StageContext const& context) {
    return std::make_unique<KeepingStage>(*this, on(context.device), make(context));
  };
  if (stages.merge)
    kept.merge = [merge = stages.merge](Stage& stage) { merge(static_cast<KeepingStage&>(stage).inner()); };
  return kept;
}

Stages DevicePlaces::keep_inputs() {
  return {.make =
              [this](StageContext const& context) {
                return std::make_unique<KeepingStage>(*this, on(context.device), nullptr);
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

void DevicePlaces::used_in(Tile const& tile, void* stream) {
  if (PlacesOnDevice* const on = device_of_[tile.index()]) on->used_in(tile.index(), stream);
}

}  // namespace penstock::c
