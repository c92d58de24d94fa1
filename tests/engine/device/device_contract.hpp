// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "support/kernels.hpp"
#include <gtest/gtest.h>

#include "penstock/device.hpp"

namespace penstock {

/// A device to hold to the contract. Instantiate DeviceContract with it, and link the contract's files.
struct DeviceUnderTest {
  std::string name;  ///< Has letters only.
  /// A null pointer says that there is no such device here, and skips the tests.
  std::function<std::unique_ptr<Device>()> make;
  /// Another device of the same kind, beside the first; null where there is none.
  std::function<std::unique_ptr<Device>()> make_second;
  std::shared_ptr<support::Kernels const> kernels;
  /// Launches something that the device refuses, in code that does not check.
  std::function<void(Device&, StreamRef)> launch_in_vain;
  /// The conservation law: called when the test has given everything back.
  std::function<void(Device&)> expect_nothing_lent;
};

inline void PrintTo(DeviceUnderTest const& device, std::ostream* out) {
  *out << device.name;
}
inline std::string name_of(testing::TestParamInfo<DeviceUnderTest> const& info) {
  return info.param.name;
}

/// One fresh device, pinned host memory to copy from and to, device memory; all of it handed back at the end.
///
/// A device must be able to run nine kernels at once, since as many may be held.
class DeviceContract : public testing::TestWithParam<DeviceUnderTest> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Device& device() { return *device_; }
  /// Makes a second device and memory of it, filled with zeros; false where there is no second one. Follow with
  /// `attach` of the device that is needed next.
  bool has_second(std::size_t bytes);
  Device& second() { return *second_; }
  /// The memory of the second device.
  std::span<std::byte> there_too() const { return there_too_.bytes(); }
  support::Kernels const& kernels() const { return *GetParam().kernels; }
  support::Hold hold(StreamRef stream) const { return kernels().hold(stream); }

  /// Pinned host memory of this test's own, filled with zeros.
  std::span<std::byte> host(std::size_t bytes);
  /// Device memory filled with zeros.
  std::span<std::byte> memory(std::size_t bytes);
  /// A stream that the legacy stream knows nothing of, unless asked otherwise.
  Stream stream(bool blocking = false) { return device().make_stream({.blocking = blocking}); }
  Event event() { return device().make_event(); }
  /// Records an event in `stream` and returns it.
  Event mark(StreamRef stream);
  /// Brings uploads, kernels and downloads through a stream of its own, and returns when they are done: what nothing
  /// holds back has then had its turn, too. To be called before it is said that something did not happen.
  void let_all_else_run();
  /// Returns what device memory holds, read through a stream of its own once nothing writes to it any more.
  std::vector<std::byte> read(std::span<std::byte const> bytes);

 private:
  struct FreePages {
    void operator()(std::byte* start) const noexcept { std::free(start); }
  };
  std::unique_ptr<Device> device_, second_;
  DeviceMemory there_too_;
  std::unique_ptr<std::byte, FreePages> pages_;
  Pinned pinned_;
  std::size_t host_used_ = 0;
  std::vector<DeviceMemory> memories_;
  std::span<std::byte> else_here_, else_there_;
};

}  // namespace penstock
