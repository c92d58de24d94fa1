// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "support/inline_stream.hpp"
#include "support/read_by_the_host.hpp"
#include <gtest/gtest.h>

#include "penstock/device_memory.hpp"
#include "penstock/stages.hpp"

namespace penstock {
namespace {

using support::ReadByTheHost;

static_assert(!ReadByTheHost<decltype(DeviceTile::input)>);
static_assert(!ReadByTheHost<decltype(DeviceTile::output)>);
static_assert(!ReadByTheHost<DeviceSpan<std::byte const>>);
static_assert(ReadByTheHost<std::span<std::byte>>, "the concept sees what it looks for");
static_assert(!std::constructible_from<KernelBlock, std::uint32_t> && !std::default_initializable<KernelBlock>,
              "only a device calls a kernel");
// Memory that is only read stays so.
static_assert(std::convertible_to<DeviceSpan<std::byte>, DeviceSpan<std::byte const>>);
static_assert(!std::convertible_to<DeviceSpan<std::byte const>, DeviceSpan<std::byte>>);

TEST(ADeviceSpan, IsReadByAKernel) {
  std::array<std::byte, 8> memory{};
  support::InlineStream stream;
  DeviceSpan<std::byte> const all(memory);
  StreamRef(stream).launch(4, [all](KernelBlock block) { all.in(block)[block] = std::byte{7}; });
  EXPECT_EQ(std::ranges::count(memory, std::byte{7}), 4);
  EXPECT_EQ(memory[3], std::byte{7});
  EXPECT_EQ(memory[4], std::byte{0});
}

TEST(ADeviceSpan, IsCutAsASpanIs) {
  std::array<std::byte, 24> memory{};
  DeviceSpan<std::byte> const all(memory);
  EXPECT_EQ(all.first(3).address(), memory.data());
  EXPECT_EQ(all.first(3).size(), 3u);
  EXPECT_EQ(all.subspan(5).address(), &memory[5]);
  EXPECT_EQ(all.subspan(5).size(), 19u);
  EXPECT_EQ(all.subspan(5, 2).size(), 2u);
  EXPECT_TRUE(all.subspan(24).empty());
  EXPECT_TRUE(DeviceSpan<std::byte>().empty());
}

TEST(ADeviceSpan, HasAsManyElementsOfAnotherTypeAsFit) {
  alignas(8) std::array<std::byte, 27> memory{};
  auto const words = DeviceSpan<std::byte>(memory).as<std::uint64_t>();
  EXPECT_EQ(words.size(), 3u);
  EXPECT_EQ(words.size_bytes(), 24u);
  EXPECT_EQ(static_cast<void*>(words.address()), memory.data());
}

}  // namespace
}  // namespace penstock
