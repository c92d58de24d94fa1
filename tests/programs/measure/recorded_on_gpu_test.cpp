// SPDX-License-Identifier: Apache-2.0
#include "support/one_gpu.hpp"

#include "observe/cupti/activity_log.hpp"
#include "penstock/error.hpp"
#include "penstock/observe.hpp"
#include "programs/measure/recorded_kernels.hpp"

namespace penstock::measure {
namespace {

using OneGpu = support::OneGpu;

TEST_F(OneGpu, IsRecordedAsItsKernelsNoteThemselves) {
  expect_recorded_as_noted(*gpu, LaneShape::split, 1);
}

TEST_F(OneGpu, IsRecordedAsItsKernelsNoteThemselvesInASingleStream) {
  expect_recorded_as_noted(*gpu, LaneShape::single, 1);
}

TEST_F(OneGpu, IsRecordedAsItsKernelsNoteThemselvesIfOnlySomeAreLookedAt) {
  expect_recorded_as_noted(*gpu, LaneShape::split, 4);
  expect_recorded_as_noted(*gpu, LaneShape::single, 4);
}

TEST_F(OneGpu, IsLoggedByCuptiAsItsKernelsNoteThemselves) {
  try {
    Recorder recorder({.capacity = 1 << 14});
    ActivityLog::open(recorder);
  } catch (Error const& error) {
    GTEST_SKIP() << error.what();
  }
  expect_recorded_as_noted(*gpu, LaneShape::split, 1, true);
  expect_recorded_as_noted(*gpu, LaneShape::split, 4, true);
  expect_recorded_as_noted(*gpu, LaneShape::single, 1, true);
}

}  // namespace
}  // namespace penstock::measure
