// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/error.hpp"
#include "penstock/device/device.hpp"

namespace penstock {

/// What a device is called where devices are opened by name: "cpu:0", "cuda:1".
inline std::string device_name(DeviceInfo const& info) {
  return (info.kind == DeviceKind::cuda ? "cuda:" : "cpu:") + std::to_string(info.ordinal);
}

/// The devices that share some work; it owns none of them, and they outlive it.
///
/// Threads: as Device.
class DeviceGroup {
 public:
  /// One device is a group as well.
  DeviceGroup(Device& only) : all_{&only} {}  // NOLINT(google-explicit-constructor): as a device is meant.
  /// Throws: Error of kind bad_argument, if there is no device or one of them is null.
  DeviceGroup(std::vector<Device*> all) : all_(std::move(all)) {  // NOLINT(google-explicit-constructor): likewise.
    if (all_.empty()) throw Error(ErrorKind::bad_argument, "There is no device to share the work: name one at least.");
    if (std::ranges::count(all_, nullptr) > 0) throw Error(ErrorKind::bad_argument, "One of the devices is null.");
  }
  DeviceGroup(std::initializer_list<Device*> all) : DeviceGroup(std::vector<Device*>(all)) {}

  std::vector<Device*> const& all() const noexcept { return all_; }
  std::size_t size() const noexcept { return all_.size(); }
  Device& front() const noexcept { return *all_.front(); }

  /// The infos of all devices as one. `name` has each name once, with how many devices have it, as "2 x NVIDIA H200".
  /// Memory, engines and units are those of all; the rest is that of the first.
  DeviceInfo info() const {
    DeviceInfo sum = front().info();
    std::vector<std::pair<std::string, std::size_t>> named{{sum.name, 1}};
    for (std::size_t i = 1; i < all_.size(); ++i) {
      DeviceInfo const next = all_[i]->info();
      sum.memory_bytes += next.memory_bytes;
      sum.memory_free += next.memory_free;
      sum.copy_engines += next.copy_engines;
      sum.compute_units += next.compute_units;
      auto const same =
          std::find_if(named.begin(), named.end(), [&](auto const& one) { return one.first == next.name; });
      same == named.end() ? static_cast<void>(named.emplace_back(next.name, 1)) : static_cast<void>(++same->second);
    }
    sum.name.clear();
    for (auto const& [name, count] : named) {
      sum.name += (sum.name.empty() ? "" : " + ") + (count > 1 ? std::to_string(count) + " x " : "") + name;
    }
    return sum;
  }
  /// Each one's device_name.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (Device* const device : all_) names.push_back(device_name(device->info()));
    return names;
  }
  /// The fault that ended one of them, the first in their order, if one did.
  ///
  /// Blocks: as Device::lost, for each.
  std::optional<Error> lost() const {
    for (Device* const device : all_) {
      if (auto loss = device->lost()) return loss;
    }
    return std::nullopt;
  }
  /// True if none of them serves any more.
  ///
  /// Blocks: as Device::lost, for each.
  bool all_lost() const {
    return std::all_of(all_.begin(), all_.end(), [](Device* device) { return device->lost().has_value(); });
  }

 private:
  std::vector<Device*> all_;
};

/// Owns one or more devices that share some work; `open_devices` opens them by name.
///
/// Threads: as Device.
class Devices : public DeviceGroup {
 public:
  /// Throws: Error of kind bad_argument, if there is no device or one of them is null.
  explicit Devices(std::vector<std::unique_ptr<Device>> opened)
      : DeviceGroup(pointers(opened)), owned_(std::move(opened)) {}

 private:
  static std::vector<Device*> pointers(std::vector<std::unique_ptr<Device>> const& opened) {
    std::vector<Device*> all;
    for (auto const& device : opened) all.push_back(device.get());
    return all;
  }

  std::vector<std::unique_ptr<Device>> owned_;
};

}  // namespace penstock
