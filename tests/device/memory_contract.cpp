// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "device/device_contract.hpp"
#include <gmock/gmock.h>

namespace penstock {
namespace {

using testing::HasSubstr;

TEST_P(DeviceContract, AlignsItsMemory) {
  for (std::size_t const bytes : {1u, 255u, 256u, 4097u}) {
    DeviceMemory const memory = device().allocate(bytes);
    EXPECT_EQ(memory.bytes().size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 256, 0u);
  }
}

TEST_P(DeviceContract, AllocatesNothingWithoutComplaint) {
  EXPECT_TRUE(device().allocate(0).bytes().empty());
}

TEST_P(DeviceContract, SaysWhatWasAskedForAndWhatToReduceWhenItsMemoryIsUsedUp) {
  std::size_t const too_much = 2 * device().info().memory_bytes + 12345;
  try {
    DeviceMemory const memory = device().allocate(too_much);
    FAIL() << "got " << memory.bytes().size() << " bytes";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_device_memory);
    EXPECT_THAT(error.what(), HasSubstr("free"));
    EXPECT_THAT(error.what(), HasSubstr("tiles"));
  }
  EXPECT_EQ(device().allocate(1024).bytes().size(), 1024u) << "the device did not survive its refusal";
  EXPECT_FALSE(device().lost());
}

TEST_P(DeviceContract, PinsTheSameMemoryOnceAtATime) {
  constexpr std::size_t page = std::size_t{1} << 16;
  std::unique_ptr<void, decltype(&std::free)> const pages(std::aligned_alloc(page, 2 * page), &std::free);
  std::span const region(static_cast<std::byte*>(pages.get()), 2 * page);
  {
    Pinned const pinned = device().pin(region);
    EXPECT_THROW(device().pin(region), Error);
  }
  EXPECT_NO_THROW(device().pin(region));
  EXPECT_FALSE(device().lost());
}

}  // namespace
}  // namespace penstock
