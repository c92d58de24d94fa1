// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using testing::Each;
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

TEST_P(DeviceContract, CountsWhatIsHeldAndTheMostThatWas) {
  std::uint64_t const before = memory_held().device;
  forget_memory_peaks();
  EXPECT_EQ(memory_peaks().device, before);
  {
    DeviceMemory const first = device().allocate(1000);
    DeviceMemory second = device().allocate(500);
    EXPECT_EQ(memory_held().device, before + 1500);
    second = DeviceMemory();
    EXPECT_EQ(memory_held().device, before + 1000);
  }
  EXPECT_THROW(device().allocate(2 * device().info().memory_bytes), Error);
  EXPECT_EQ(memory_held().device, before);
  EXPECT_EQ(memory_peaks().device, before + 1500) << "what was refused was never held";
  forget_memory_peaks();
  EXPECT_EQ(memory_peaks().device, before);
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
  std::uint64_t const before = memory_held().pinned;
  {
    Pinned const pinned = device().pin(region);
    EXPECT_EQ(memory_held().pinned, before + region.size());
    EXPECT_THROW(device().pin(region), Error);
    EXPECT_EQ(memory_held().pinned, before + region.size());
  }
  EXPECT_EQ(memory_held().pinned, before);
  EXPECT_NO_THROW(device().pin(region));
  EXPECT_FALSE(device().lost());
}

TEST_P(DeviceContract, SeesPinnedMemoryWhereItSays) {
  std::span<std::byte> const ours = host(4096);
  auto const seen = device().mapped(ours);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->size(), ours.size());
  Stream const in = stream();
  kernels().add_one(in, *seen);
  kernels().add_one(in, seen->subspan(4000));
  in.synchronize();
  EXPECT_EQ(ours[0], std::byte{1});
  EXPECT_EQ(ours[4095], std::byte{2});
  // The kernel reads what the host writes before a launch.
  ours[0] = std::byte{41};
  kernels().add_one(in, *seen);
  in.synchronize();
  EXPECT_EQ(ours[0], std::byte{42});
}

TEST_P(DeviceContract, SaysOfMemoryThatIsNotPinnedThatItDoesNotSeeIt) {
  std::vector<std::byte> mine(4096);
  EXPECT_FALSE(device().mapped(mine));
  EXPECT_TRUE(device().mapped({})) << "no bytes are anywhere";
  EXPECT_FALSE(device().take_refusal()) << "that was no refusal";
}

TEST_P(DeviceContract, AllocatesAndFreesInTheOrderOfAStream) {
  constexpr std::size_t bytes = 4096;
  auto const first = host(bytes);
  auto const second = host(bytes);
  for (bool const default_stream : {false, true}) {
    Stream const made = stream();
    StreamRef const own = default_stream ? device().thread_default_stream() : StreamRef(made);
    auto still = hold(own);
    for (auto const& [out, value] : {std::pair(first, std::byte{1}), std::pair(second, std::byte{2})}) {
      DeviceMemory const ordered = own.allocate(bytes);
      EXPECT_EQ(ordered.bytes().size(), bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ordered.bytes().data()) % 256, 0u);
      kernels().fill(own, ordered.bytes(), value);
      own.download(out, ordered.bytes());
    }
    Event const end = mark(own);
    EXPECT_FALSE(end.passed()) << "it was not held";
    still.open();
    own.synchronize();
    EXPECT_THAT(first, Each(std::byte{1}));
    EXPECT_THAT(second, Each(std::byte{2}));
  }
  EXPECT_TRUE(stream().allocate(0).bytes().empty());
}

TEST_P(DeviceContract, SaysWhatToDoWhenThereIsNoMemoryInTheOrderOfAStream) {
  Stream const own = stream();
  try {
    DeviceMemory const memory = own.allocate(2 * device().info().memory_bytes);
    FAIL() << "got " << memory.bytes().size() << " bytes";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_device_memory);
    EXPECT_THAT(error.what(), HasSubstr("tiles"));
  }
  EXPECT_EQ(own.allocate(1024).bytes().size(), 1024u);
  EXPECT_FALSE(device().take_refusal());
}

TEST_P(DeviceContract, AllocatesNothingInTheOrderOfAStreamThatCaptures) {
  Stream const own = stream();
  own.begin_capture();
  EXPECT_THROW(own.allocate(1024), Error);
  try {
    Capture const captured = own.end_capture();
    EXPECT_EQ(captured.operations(), 0u);
  } catch (Error const&) {
    // The refusal may have spoiled it.
  }
  EXPECT_EQ(own.allocate(1024).bytes().size(), 1024u);
}

}  // namespace
}  // namespace penstock
