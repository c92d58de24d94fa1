// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>

#include "lab/held_kernels.hpp"
#include <gtest/gtest.h>

#include "penstock/cpu/cpu_device.hpp"
#include "penstock/lab/experiments.hpp"

namespace penstock::lab {

/// A CPU device on which one experiment runs with its kernels held, while the test looks on. It must leave nothing
/// behind.
struct CpuLaboratory : testing::Test {
  /// Starts the experiment on a thread of its own.
  void begin(Experiment const& experiment) {
    seen = std::async(std::launch::async, [this, experiment] {
      Workbench bench(device, held.options());
      return experiment.run(bench);
    });
  }
  /// Brings kernels through a stream of their own: what nothing holds back has then had its turn, too.
  void let_all_else_run() {
    Stream const own = device.make_stream();
    for (int i = 0; i < 3; ++i) own.launch(1, [](std::uint32_t) {});
    own.synchronize();
  }
  void TearDown() override {
    held.end_all();
    if (seen.valid()) seen.wait();
    EXPECT_EQ(device.outstanding(), cpu::Outstanding{});
  }

  cpu::CpuDevice device{{.compute_threads = kernels_at_once + 1}};
  support::HeldKernels held;
  std::future<Observation> seen;
};

}  // namespace penstock::lab
