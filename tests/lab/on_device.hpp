// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "penstock/device/device.hpp"

namespace penstock::lab {

/// A device to run every experiment on. Instantiate Laboratory with it, and link lab/on_device.cpp.
struct LaboratoryDevice {
  std::string name;  ///< Of letters.
  /// A null pointer says that there is no such device here, or none that runs several kernels at once, and skips the
  /// tests.
  std::function<std::unique_ptr<Device>()> make;
};
inline void PrintTo(LaboratoryDevice const& device, std::ostream* out) {
  *out << device.name;
}

/// One device, in good health also afterwards.
class Laboratory : public testing::TestWithParam<LaboratoryDevice> {
 protected:
  void SetUp() override {
    device_ = GetParam().make();
    if (!device_) GTEST_SKIP() << "there is no such device here, or it runs one kernel at a time";
    device_->attach();
  }
  void TearDown() override {
    if (!device_) return;
    EXPECT_FALSE(device_->lost()) << device_->lost()->what();
  }
  Device& device() { return *device_; }

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace penstock::lab
