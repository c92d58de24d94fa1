// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

TEST_P(KernelsOn, CountBytesOfEveryLengthIntoWhatWasThere) {
  std::array<std::uint64_t, 256> expected{}, found{};
  expected[3] = 5;  // They were there before.
  auto const counts = memory(sizeof found);
  upload(counts, std::as_bytes(std::span(expected)));
  std::span<std::uint64_t> const on_device{reinterpret_cast<std::uint64_t*>(counts.data()), 256};
  count_bytes_prepare(stream());
  for (std::size_t const length : std::initializer_list<std::size_t>{1, 255, 4096, 65'537, 5'000'001}) {
    std::vector<std::byte> input(length);
    for (std::size_t i = 0; i < length; ++i) input[i] = static_cast<std::byte>(i * i % 251);
    for (std::byte const byte : input) ++expected[std::to_integer<std::size_t>(byte)];
    auto const there = memory(length);
    upload(there, input);
    count_bytes(there, on_device, stream(), length == 5'000'001 ? 1 : 0);
  }
  download(std::as_writable_bytes(std::span(found)), counts);
  EXPECT_EQ(found, expected);
}

TEST_P(KernelsOn, CountNoBytesAndNotIntoTooFewCounts) {
  auto const counts = memory(256 * 8);
  std::span<std::uint64_t> const on_device{reinterpret_cast<std::uint64_t*>(counts.data()), 256};
  count_bytes({}, on_device, stream());
  EXPECT_THROW(count_bytes({}, on_device.first(255), stream()), Error);
}

}  // namespace
}  // namespace penstock
