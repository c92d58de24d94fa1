// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "course/experiment.hpp"
#include "course/held_kernels.hpp"

namespace penstock::lab {

/// A device whose kernels can be held. Instantiate HeldLaboratory with it, and link penstock_lab_contract.
struct HeldDevice {
  std::string name;  ///< Has letters only.
  /// A null pointer says that there is no such device here, or none that runs several kernels at once, and skips the
  /// tests.
  std::function<std::unique_ptr<Device>()> make;
  std::function<std::unique_ptr<support::HeldKernels>(StreamRef)> make_kernels;  ///< Loads them, too.
  /// The conservation law: called when the experiment is over.
  std::function<void(Device&)> expect_nothing_lent;
};
inline void PrintTo(HeldDevice const& device, std::ostream* out) {
  *out << device.name;
}
inline std::string name_of_device(testing::TestParamInfo<HeldDevice> const& info) {
  return info.param.name;
}

/// A device on which one experiment runs with its kernels held, while the test looks on. It must leave nothing behind.
class HeldLaboratory : public testing::TestWithParam<HeldDevice> {
 protected:
  void SetUp() override;
  void TearDown() override;

  support::HeldKernels& held() { return *held_; }
  /// Starts the experiment on a thread of its own.
  void begin(Experiment const& experiment);
  /// Blocks: until it is over.
  Observation seen() { return seen_.get(); }
  Verdict verdict() { return seen().verdict; }
  /// Brings kernels through a stream of their own: what nothing holds back has then had its turn, too.
  void let_all_else_run();
  /// Sees each of them start only when the one before it was let go; no other starts meanwhile.
  void expect_one_at_a_time(std::vector<std::string> const& labels);

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<support::HeldKernels> held_;
  DeviceMemory stamp_;
  std::optional<Stream> else_;
  std::future<Observation> seen_;
};

/// The rows of all that was seen, in its order.
std::vector<std::string> rows_of(Observation const& observation);

}  // namespace penstock::lab
