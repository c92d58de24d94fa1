// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomics.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

#include "engine/core/falls_asleep.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

TEST(AThreadThatWaitsForAWord, SleepsWhileItIsAsExpected) {
  std::atomic<std::uint32_t> const word{3};
  EXPECT_TRUE(falls_asleep(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, [&] { StandardAtomics::wait(word, 3, 1min); }));
}

TEST(AThreadThatWaitsForAWord, DoesNotSleepWhereItIsAnother) {
  std::atomic<std::uint32_t> const word{3};
  for (int i = 0; i < 3; ++i) StandardAtomics::wait(word, 4, 1h);
}

}  // namespace
}  // namespace penstock
