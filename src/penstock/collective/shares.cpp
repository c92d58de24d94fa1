// SPDX-License-Identifier: Apache-2.0
#include "penstock/collective/shares.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "penstock/core/error.hpp"
#include "penstock/kernels/combine.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

Share::Share(Device& device, std::size_t bytes, bool guarded)
    : bytes_(bytes), memory_(device.allocate(std::max<std::size_t>(bytes, 1))) {
  if (!guarded) return;
  updated_.emplace(device.make_event());
  read_.emplace(device.make_event());
}

Share::Update::Update(Share& share, StreamRef stream)
    : share_(share), stream_(stream), lock_(share.mutex_, std::defer_lock) {
  if (!share.updated_) return;
  lock_.lock();
  if (share.being_read_) stream.wait(*share.read_);
  share.being_read_ = false;
}

Share::Update::~Update() {
  if (!share_.updated_) return;
  try {
    stream_.record(*share_.updated_);
  } catch (Error const&) {
    // The device refuses, and says so to whoever asks it next: the lane, or the merge.
  }
}

/// One device's part in it.
struct Shares::Place {
  Place(Device& its, std::size_t bytes)
      : device(its), name(device_name(its.info())), scratch(its.allocate(std::max<std::size_t>(bytes, 1))) {
    its.attach();
    stream.emplace(its.make_stream({.priority = its.info().greatest_priority}));
  }
  Device& device;
  std::string const name;                             ///< A lost device no longer says what it is.
  std::map<unsigned, std::unique_ptr<Share>> shares;  ///< By lane.
  DeviceMemory scratch;
  std::optional<Stream> stream;  ///< It goes first, and waits for what uses the memory.
};

Shares::Shares(DeviceGroup const& devices, std::size_t count, ElementType type, ReduceOperation operation,
               ReductionOptions const& options)
    : devices_(devices),
      bytes_(count * element_bytes(type)),
      type_(type),
      operation_(operation),
      while_running_(options.while_running),
      identity_(bytes_) {
  fill_with_identity(identity_, type, operation);
  std::vector<int> gpus;
  for (Device* const device : devices_.all()) {
    auto& place = *places_.emplace_back(std::make_unique<Place>(*device, bytes_));
    combine_prepare(type, operation, *place.stream);
    if (DeviceInfo const info = device->info(); info.kind == DeviceKind::cuda) gpus.push_back(info.ordinal);
  }
  if (gpus.size() < 2 || gpus.size() != devices_.size()) return;
  if (!options.nccl) {
    why_no_nccl_ = "NCCL is not wanted.";
    return;
  }
  try {
    nccl_ = Nccl::open(gpus, options.nccl_library);
  } catch (Error const& error) {
    why_no_nccl_ = error.what();
  }
}

Shares::~Shares() {
  if (nccl_ != nullptr && devices_.lost()) nccl_->leave();
}

Share& Shares::share(StageContext const& context) {
  auto const found = std::find_if(places_.begin(), places_.end(),
                                  [&](auto const& place) { return &place->device == &context.device; });
  if (found == places_.end()) {
    throw Error(ErrorKind::bad_argument,
                "Lane " + std::to_string(context.lane) +
                    " is on a device that this reduction was not made for: give it all devices of the pipeline.");
  }
  std::scoped_lock const lock(mutex_);
  auto& share = (*found)->shares[context.lane];
  if (share == nullptr) {
    auto fresh = std::make_unique<Share>(context.device, bytes_, while_running_);
    fresh->update(context.stream, [&] { context.stream.upload(fresh->array(), identity_); });
    share = std::move(fresh);
  }
  return *share;
}

MergedBytes Shares::merge() {
  std::scoped_lock const lock(mutex_);
  MergedBytes merged{.bytes = identity_, .how = {}, .missing = {}};
  std::vector<Place*> healthy;
  for (auto const& place : places_) {
    if (place->shares.empty()) continue;
    if (auto const loss = place->device.lost()) {
      merged.missing.push_back(place->name + ": " + loss->what());
    } else {
      healthy.push_back(place.get());
    }
  }
  if (!merge_by_nccl(healthy, merged)) merge_on_host(healthy, merged);
  return merged;
}

/// Enqueues that the place's scratch becomes what its lanes have together.
void Shares::gather(Place& place) {
  place.device.attach();
  std::span<std::byte> const scratch = place.scratch.bytes().first(bytes_);
  place.stream->upload(scratch, identity_);
  for (auto const& of_lane : place.shares) {
    Share& share = *of_lane.second;
    share.read(*place.stream, [&] { combine(share.array(), scratch, type_, operation_, *place.stream); });
  }
}

/// False if that cannot be, and then the host has to do it from the start.
bool Shares::merge_by_nccl(std::vector<Place*> const& healthy, MergedBytes& merged) {
  // A communicator is for all of its GPUs or for none.
  if (nccl_ == nullptr || healthy.size() != places_.size()) return false;
  try {
    std::vector<Nccl::Part> parts;
    for (Place* const place : healthy) {
      gather(*place);
      parts.push_back({place->scratch.bytes().first(bytes_), *place->stream});
    }
    nccl_->reduce(parts, type_, operation_);
    Place& root = *healthy.front();
    root.device.attach();
    root.stream->download(merged.bytes, root.scratch.bytes().first(bytes_));
    // Asks each: of a GPU that is lost the others' kernels would never hear.
    for (bool idle = false; !idle;) {
      std::this_thread::yield();
      idle = std::all_of(healthy.begin(), healthy.end(), [](Place* place) { return place->stream->idle(); });
    }
    merged.how = "by " + nccl_->name() + " on " + std::to_string(healthy.size()) + " GPUs";
    return true;
  } catch (Error const& error) {
    why_no_nccl_ = error.what();
    nccl_->leave();
    nccl_.reset();
    return false;
  }
}

/// In the order of the devices.
void Shares::merge_on_host(std::vector<Place*> const& healthy, MergedBytes& merged) {
  std::vector<std::byte> one(bytes_);
  std::size_t devices = 0;
  for (Place* const place : healthy) {
    try {
      gather(*place);
      place->stream->download(one, place->scratch.bytes().first(bytes_));
      place->stream->synchronize();
    } catch (Error const& error) {
      if (!place->device.lost()) throw;
      merged.missing.push_back(place->name + ": " + error.what());
      continue;
    }
    if (devices++ == 0) {
      merged.bytes.swap(one);
    } else {
      combine_on_host(one, merged.bytes, type_, operation_);
    }
  }
  if (devices == 0 && !merged.missing.empty()) {
    throw Error(ErrorKind::device_lost, "There is nothing left to merge: " + merged.missing.front());
  }
  if (devices < 2) {
    merged.how = devices == 1 ? "on one device" : "of no lane";
    return;
  }
  merged.how = "by memory of the host, of " + std::to_string(devices) + " devices";
  if (!why_no_nccl_.empty()) merged.how += ", because: " + why_no_nccl_;
}

void Shares::clear() {
  std::scoped_lock const lock(mutex_);
  for (auto const& place : places_) {
    if (place->device.lost()) continue;
    place->device.attach();
    for (auto const& [lane, share] : place->shares) place->stream->upload(share->array(), identity_);
    place->stream->synchronize();
  }
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
