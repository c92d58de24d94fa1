// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <string>
#include <vector>

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
  /// Sees each of them start only when the one before it was let go; nobody else starts meanwhile.
  void expect_one_at_a_time(std::vector<std::string> const& labels) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      held.await_started(i + 1);
      let_all_else_run();
      EXPECT_EQ(held.started().size(), i + 1) << held.started().back();
      EXPECT_EQ(held.started().at(i), labels[i]);
      held.end(held.started().at(i));
    }
  }
  static std::vector<std::string> rows_of(Observation const& observation) {
    std::vector<std::string> rows;
    for (Interval const& interval : observation.intervals) rows.push_back(interval.row);
    return rows;
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
