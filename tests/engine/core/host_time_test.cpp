// SPDX-License-Identifier: Apache-2.0
#include "engine/core/host_time.hpp"

#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>

#include "penstock/clock.hpp"

namespace penstock {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Counts what it is asked for.
struct CountingKeeper final : HostKeeper {
  void pay() noexcept override { ++calls; }
  void forget() noexcept override { ++calls; }
  void end_call(nanoseconds) noexcept override { ++calls; }
  void nap() noexcept override { ++calls; }
  nanoseconds cpu_time() noexcept override { return milliseconds(7); }
  double take_lost_part() noexcept override { return 0.5; }
  unsigned calls = 0;
};

/// Exits with 0 if only a clock that is slower by the least factor has the keeper asked.
[[noreturn]] void slow_down_by_two() {
  static CountingKeeper keeper;
  HostTime::keep_by(keeper);
  HostTime::pay();
  HostTime::forget();
  HostTime::end_call(milliseconds(1));
  if (HostTime::nap() || HostTime::take_lost_part() != 0 || keeper.calls != 0) std::_Exit(1);
  Clock::slow_down(2);
  HostTime::pay();
  HostTime::forget();
  HostTime::end_call(milliseconds(1));
  bool const naps = HostTime::nap();
  bool const asked = HostTime::cpu_time() == milliseconds(7) && HostTime::take_lost_part() == 0.5;
  std::_Exit(naps && asked && keeper.calls == 4 ? 0 : 2);
}

/// In a process of its own, which has one clock for good.
TEST(TheTimeOfTheHost, IsKeptAsSoonAsTheClockIsSlowerAndNotBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(slow_down_by_two(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace penstock
