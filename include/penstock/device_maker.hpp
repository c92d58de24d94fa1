// SPDX-License-Identifier: Apache-2.0
// How devices that the engine does not know are opened by their names (named_devices.hpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/device.hpp"

namespace penstock {

/// A device that was named and is not open yet.
class DeviceToOpen {
 public:
  DeviceToOpen() = default;
  DeviceToOpen(DeviceToOpen const&) = delete;
  DeviceToOpen& operator=(DeviceToOpen const&) = delete;
  virtual ~DeviceToOpen() = default;

  /// What it is called. Those of a list that are called the same are numbered from 0.
  virtual std::string_view called() const noexcept = 0;
  /// By how much the Clock is slower with it; 1 for a real device. All devices of a process have the same.
  virtual unsigned slower() const noexcept = 0;
  /// Opens it. `threads`: its share of the threads that can be busy at once.
  virtual std::unique_ptr<Device> open(int ordinal, unsigned threads, Flavour flavour) = 0;
  /// Makes the Clock as slow as it says, once all of its list are open.
  ///
  /// Throws: as Clock::slow_down.
  virtual void slow_clock() = 0;
};

/// Makes devices of some names, as "model:h200". It is named where devices are opened, and registers nowhere.
///
/// Threads: any.
class DeviceMaker {
 public:
  DeviceMaker() = default;
  DeviceMaker(DeviceMaker const&) = delete;
  DeviceMaker& operator=(DeviceMaker const&) = delete;
  virtual ~DeviceMaker() = default;

  /// Which names it knows, as messages have it: "model:NAME".
  virtual std::string names() const = 0;
  /// The device of that name; null, if the name is none of its own.
  ///
  /// Throws: Error of kind bad_argument, if the name is one of its own and there is no such device.
  virtual std::unique_ptr<DeviceToOpen> find(std::string_view name) const = 0;
};

}  // namespace penstock
