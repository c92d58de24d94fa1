// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/crew.hpp"

#include <array>
#include <barrier>
#include <stdexcept>

#include <gtest/gtest.h>

#include "penstock/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

struct ACrewOfThree : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  Crew crew{device, 3};
};

TEST_F(ACrewOfThree, DoesTheSameAtTheSameTimeEachForItself) {
  std::barrier together(3);
  std::array<int, 3> calls{};
  crew.each([&](unsigned number) {
    together.arrive_and_wait();
    ++calls.at(number);
  });
  EXPECT_EQ(calls, (std::array{1, 1, 1}));
}

TEST_F(ACrewOfThree, KeepsItsThreadsFromOneToTheNext) {
  std::array<std::thread::id, 3> first, second;
  crew.each([&](unsigned number) { first.at(number) = std::this_thread::get_id(); });
  crew.each([&](unsigned number) { second.at(number) = std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], std::this_thread::get_id());
}

TEST_F(ACrewOfThree, SaysWhatOneOfThemThrewAndServesOn) {
  auto const faulty = [](unsigned number) {
    if (number == 1) throw std::runtime_error("no");
  };
  EXPECT_THROW(crew.each(faulty), std::runtime_error);
  crew.each([](unsigned) {});
}

TEST_F(ACrewOfThree, MayHaveNothingToDo) {}

}  // namespace
}  // namespace penstock::lab
