// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/device.hpp"

namespace penstock {

/// A device to hold the kernels to their promises on. Instantiate KernelsOn with it, and link
/// kernels/blake3/on_device_blake3.cpp and kernels/basic/on_device_transform.cpp.
struct DeviceToComputeOn {
  std::string name;  ///< Has letters only.
  /// A null pointer says that there is no such device here, and skips the tests.
  std::function<std::unique_ptr<Device>()> make;
};

/// One device and one stream on it, with memory that is handed back at the end.
class KernelsOn : public testing::TestWithParam<DeviceToComputeOn> {
 public:
  void SetUp() override {
    device_ = GetParam().make();
    if (!device_) GTEST_SKIP() << "there is no such device here";
    device_->attach();
    stream_.emplace(device_->make_stream());
  }
  void TearDown() override {
    if (!device_) return;
    EXPECT_FALSE(device_->lost()) << device_->lost()->what();
    stream_.reset();
    memories_.clear();
  }

  Device& device() { return *device_; }
  StreamRef stream() { return *stream_; }
  /// Device memory of this test's own.
  std::span<std::byte> memory(std::size_t bytes) {
    memories_.push_back(device_->allocate(bytes));
    return memories_.back().bytes().first(bytes);
  }
  /// Blocks: until all that was put into the stream is done, as download does.
  void upload(std::span<std::byte> to, std::span<std::byte const> from) {
    stream().upload(to, from);
    stream().synchronize();
  }
  void download(std::span<std::byte> to, std::span<std::byte const> from) {
    stream().download(to, from);
    stream().synchronize();
  }

 private:
  std::unique_ptr<Device> device_;
  std::optional<Stream> stream_;
  std::vector<DeviceMemory> memories_;
};

}  // namespace penstock
