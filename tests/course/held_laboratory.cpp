// SPDX-License-Identifier: Apache-2.0
#include "course/held_laboratory.hpp"

namespace penstock::lab {

void HeldLaboratory::SetUp() {
  device_ = GetParam().make();
  if (!device_) GTEST_SKIP() << "there is no such device here, or it runs one kernel at a time";
  device_->attach();
  stamp_ = device_->allocate(sizeof(Stamp));
  else_ = device_->make_stream();
  held_ = GetParam().make_kernels(*else_);
  busy_prepare(*else_);
  let_all_else_run();
}

void HeldLaboratory::TearDown() {
  if (!device_) return;
  if (held_) held_->end_all();
  if (seen_.valid()) seen_.wait();
  held_.reset();
  else_.reset();
  stamp_ = {};
  EXPECT_FALSE(device_->lost());
  GetParam().expect_nothing_lent(*device_);
}

void HeldLaboratory::begin(Experiment const& experiment) {
  seen_ = std::async(std::launch::async, [this, experiment] {
    device_->attach();
    Workbench bench(*device_, held_->options());
    return experiment.run(bench);
  });
}

void HeldLaboratory::let_all_else_run() {
  for (int i = 0; i < 3; ++i) {
    busy(std::chrono::nanoseconds(0), 1, reinterpret_cast<Stamp*>(stamp_.bytes().data()), *else_);
  }
  else_->synchronize();
}

void HeldLaboratory::expect_one_at_a_time(std::vector<std::string> const& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    held_->await_started(i + 1);
    let_all_else_run();
    EXPECT_EQ(held_->started().size(), i + 1) << held_->started().back();
    EXPECT_EQ(held_->started().at(i), labels[i]);
    held_->end(held_->started().at(i));
  }
}

std::vector<std::string> rows_of(Observation const& observation) {
  std::vector<std::string> rows;
  for (Interval const& interval : observation.intervals) rows.push_back(interval.row);
  return rows;
}

}  // namespace penstock::lab
