// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

TEST_P(DeviceContract, HasNoRefusalToTellOfWhileAllIsWell) {
  Stream const busy = stream();
  auto still = hold(busy);
  Event const behind = mark(busy);
  let_all_else_run();
  EXPECT_FALSE(busy.idle());
  EXPECT_FALSE(behind.passed());
  EXPECT_FALSE(device().take_refusal()) << "it took \"not yet\" for a refusal";
  still.open();
  busy.synchronize();
  EXPECT_FALSE(device().take_refusal());
}

TEST_P(DeviceContract, TellsOnceOfALaunchThatNobodyChecked) {
  Stream const used = stream();
  auto const bytes = memory(64);
  GetParam().launch_in_vain(device(), used);
  auto const refusal = device().take_refusal();
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind(), ErrorKind::device_refused) << refusal->what();
  EXPECT_FALSE(device().take_refusal()) << "it told the same twice";
  EXPECT_FALSE(device().lost());
  kernels().fill(used, bytes, std::byte{3});
  used.synchronize();
  EXPECT_EQ(read(bytes), std::vector<std::byte>(64, std::byte{3}));
}

TEST_P(DeviceContract, TellsARefusalAfterOtherCallsThatWentWell) {
  Stream const used = stream();
  auto const bytes = memory(64);
  GetParam().launch_in_vain(device(), used);
  used.upload(bytes, host(64));
  Event const behind = mark(used);
  used.synchronize();
  EXPECT_TRUE(behind.passed());
  EXPECT_TRUE(device().take_refusal());
}

TEST_P(DeviceContract, TellsARefusalToTheThreadThatMetIt) {
  Stream const used = stream();
  GetParam().launch_in_vain(device(), used);
  std::jthread([&] {
    device().attach();
    EXPECT_FALSE(device().take_refusal());
  }).join();
  EXPECT_TRUE(device().take_refusal());
}

TEST_P(DeviceContract, KeepsNoRefusalThatWasThrown) {
  EXPECT_THROW(static_cast<void>(device().allocate(std::size_t{1} << 50)), Error);
  EXPECT_FALSE(device().take_refusal());
}

}  // namespace
}  // namespace penstock
