// SPDX-License-Identifier: Apache-2.0
// Promises of a device for copies from device to device.
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using testing::Each;

constexpr std::size_t bytes = 100'000;

TEST_P(DeviceContract, CopiesFromItsMemoryToItsMemoryInTheOrderOfTheStream) {
  auto const from = memory(bytes);
  auto const to = memory(bytes);
  Stream const own = stream();
  auto still = hold(own);
  kernels().fill(own, from, std::byte{1});
  own.copy(to, from);
  kernels().fill(own, from, std::byte{5});
  kernels().add_one(own, to);
  let_all_else_run();
  EXPECT_FALSE(own.idle());
  still.open();
  own.synchronize();
  EXPECT_THAT(read(to), Each(std::byte{2}));
  EXPECT_THAT(read(from), Each(std::byte{5}));
}

TEST_P(DeviceContract, CopiesNoMoreThanItIsGiven) {
  auto const from = memory(bytes);
  auto const to = memory(bytes);
  Stream const own = stream();
  kernels().fill(own, from, std::byte{1});
  own.copy(to.subspan(100), from.first(200));
  own.copy(to, from.first(0));
  own.copy({}, {});
  own.synchronize();
  std::vector<std::byte> expected(bytes);
  std::fill_n(expected.begin() + 100, 200, std::byte{1});
  EXPECT_EQ(read(to), expected);
}

TEST_P(DeviceContract, RefusesACopyFromDeviceToDeviceThatDoesNotFit) {
  auto const from = memory(bytes);
  auto const to = memory(bytes);
  Stream const own = stream();
  EXPECT_THROW(own.copy(to.first(bytes - 1), from), Error);
  own.copy(to, from);
  own.synchronize();
}

TEST_P(DeviceContract, KeepsACopyFromDeviceToDeviceInACapture) {
  auto const from = memory(bytes);
  auto const to = memory(bytes);
  Stream const own = stream();
  own.begin_capture();
  kernels().add_one(own, from);
  own.copy(to, from);
  kernels().add_one(own, from);
  Capture const captured = own.end_capture();
  for (int i = 0; i < 3; ++i) own.launch(captured);
  own.synchronize();
  EXPECT_THAT(read(to), Each(std::byte{5}));
  EXPECT_THAT(read(from), Each(std::byte{6}));
}

TEST_P(DeviceContract, CopiesFromAnotherDeviceAndToIt) {
  if (!has_second(bytes)) GTEST_SKIP() << "this takes two devices";
  for (Device* const of : {&device(), &second()}) {
    device().attach();
    auto const from = memory(bytes);
    auto const back = memory(bytes);
    Stream const filling = stream();
    kernels().fill(filling, from, std::byte{7});
    filling.synchronize();
    of->attach();
    Stream const own = of->make_stream();
    own.copy(there_too(), from);
    own.copy(back, there_too());
    own.synchronize();
    device().attach();
    EXPECT_THAT(read(back), Each(std::byte{7}));
  }
}

}  // namespace
}  // namespace penstock
