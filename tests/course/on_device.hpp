// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "course/experiment.hpp"

namespace penstock::lab {

/// An experiment and a device to run it on. Instantiate Laboratory with all of them for a device, and link
/// lab/on_device.cpp.
struct ExperimentOnDevice {
  std::string device;  ///< Has letters only.
  Experiment experiment;
  /// A null pointer says that there is no such device here, or none that runs several kernels at once, and skips the
  /// tests.
  std::function<std::unique_ptr<Device>()> make;
};
inline void PrintTo(ExperimentOnDevice const& what, std::ostream* out) {
  *out << what.experiment.name << " on " << what.device;
}
inline std::string name_of(testing::TestParamInfo<ExperimentOnDevice> const& info) {
  std::string name = info.param.device + "_" + std::string(info.param.experiment.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

inline std::vector<ExperimentOnDevice> all_experiments_on(std::string const& device,
                                                          std::function<std::unique_ptr<Device>()> const& make) {
  std::vector<ExperimentOnDevice> all;
  for (auto const& experiment : all_experiments()) {
    if (experiment.devices == 1) all.push_back({device, experiment, make});
  }
  return all;
}

/// One device, in good health also afterwards.
class Laboratory : public testing::TestWithParam<ExperimentOnDevice> {
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
