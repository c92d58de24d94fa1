// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <new>
#include <span>
#include <stop_token>
#include <utility>

#include "kernels/basic/busy.hpp"
#include "models/device_model.hpp"
#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/kernels.hpp"
#include "programs/command/pinned_memory.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// Work for one device, and a clock around it, to measure its model. Each time is the median of several.
///
/// Throws: Error, if the device has no memory for it or fails at it, or if `stop` was requested.
class ProbeBench {
 public:
  using Time = cpu::DeviceModel::Time;
  static constexpr std::size_t large = std::size_t{32} << 20;
  static constexpr std::size_t small = 4096;
  static constexpr int large_copies = 6;
  /// A GPU's queue has room for more.
  static constexpr int calls = 200;

  ProbeBench(Device& device, std::stop_token stop)
      : device_(device),
        stop_(std::move(stop)),
        pinned_(device, 2 * large + small, std::nullopt, stop_),
        there_(device.allocate(3 * large)),
        stamp_(new (mapped(pinned_.bytes().subspan(2 * large, sizeof(Stamp))).data()) Stamp) {
    device_.attach();
    busy_prepare(first_);
    sum_prepare(first_);
    kernel(first_);
    first_.synchronize();
  }

  ProbeBench(ProbeBench const&) = delete;
  ProbeBench& operator=(ProbeBench const&) = delete;

  Device& device() const noexcept { return device_; }
  /// Does what Device::mapped does, for pinned memory.
  std::span<std::byte> mapped(std::span<std::byte> host) const {
    if (auto const seen = device_.mapped(host)) return *seen;
    throw Error(ErrorKind::unsupported, "The device does not reach pinned memory itself: there is no model of it.");
  }
  StreamRef stream() const noexcept { return first_; }
  std::span<std::byte> host(bool up, std::size_t bytes) const { return pinned_.bytes().subspan(up ? 0 : large, bytes); }
  DeviceSpan<std::byte> there(std::size_t part, std::size_t bytes) const {
    return DeviceSpan<std::byte>(there_.bytes()).subspan(part * large, bytes);
  }
  void copy(StreamRef stream, bool up, std::size_t bytes) const {
    up ? stream.upload(there(0, bytes), host(true, bytes)) : stream.download(host(false, bytes), there(1, bytes));
  }
  void kernel(StreamRef stream, std::chrono::nanoseconds time = {}) const { busy(time, 1, stamp_, stream); }
  Event marked(StreamRef stream) const {
    Event event = device_.make_event({.timing = true});
    stream.record(event);
    return event;
  }

  /// Time that the device takes for what `put` puts into the stream, without the time of the host to put it there.
  Time on_device(std::function<void(StreamRef)> const& put);
  /// Time of one of many calls that `call` makes, while the device is busy elsewhere.
  Time of_a_call(std::function<void(StreamRef)> const& call);
  /// Time between kernels that several threads launch.
  Time of_a_call_by(unsigned of_threads);
  Time of_a_callback();
  /// Time of the call for a stream that has nothing to do.
  Time of_a_synchronize();
  Time time_both_ways();
  Time pageable();
  Time until_noticed();
  Time until_called();

 private:
  void expect_no_stop() const;

  Device& device_;
  std::stop_token const stop_;
  PinnedMemory const pinned_;
  DeviceMemory const there_;
  Stream const first_ = device_.make_stream();
  Stream const second_ = device_.make_stream();
  Stamp* const stamp_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
