// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "kernels/basic/busy.hpp"
#include "kernels/kernels_on_device.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

/// Fresh stamps on the device, and what became of them.
struct Stamps {
  explicit Stamps(KernelsOn& on) : device(on), memory(on.memory(2 * sizeof(Stamp))) {
    std::array<Stamp, 2> const fresh{};
    on.upload(memory, std::as_bytes(std::span(fresh)));
    busy_prepare(on.stream());
  }
  Stamp* operator[](std::size_t which) const { return reinterpret_cast<Stamp*>(memory.data()) + which; }
  std::array<Stamp, 2> read() const {
    std::array<Stamp, 2> stamps;
    device.download(std::as_writable_bytes(std::span(stamps)), memory);
    return stamps;
  }

  KernelsOn& device;
  std::span<std::byte> memory;
};

TEST_P(KernelsOn, BusyForAsLongAsTheyAreAsked) {
  Stamps const stamps(*this);
  busy(3ms, 1, stamps[0], stream());
  busy(0ms, 1, stamps[1], stream());
  auto const [three, none] = stamps.read();
  ASSERT_TRUE(three.ran());
  ASSERT_TRUE(none.ran());
  EXPECT_GE(three.end - three.start, 3'000'000u);
}

TEST_P(KernelsOn, BusyOneAfterTheOtherInAStream) {
  Stamps const stamps(*this);
  busy(1ms, 1, stamps[0], stream());
  busy(1ms, 1, stamps[1], stream());
  auto const [first, second] = stamps.read();
  ASSERT_TRUE(first.ran());
  EXPECT_LE(first.end, second.start);
}

/// One of them may wait until there is room.
TEST_P(KernelsOn, BusyFromTheFirstBlockToTheLast) {
  Stamps const stamps(*this);
  std::uint32_t const many = 4096;
  busy(10us, many, stamps[0], stream());
  auto const stamp = stamps.read()[0];
  ASSERT_TRUE(stamp.ran());
  EXPECT_GE(stamp.end - stamp.start, 20'000u) << "no device has room for all of these blocks at once";
  EXPECT_FALSE(stamps.read()[1].ran());
}

}  // namespace
}  // namespace penstock
