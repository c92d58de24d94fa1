// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "kernels/basic/neighbour_sums.hpp"
#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::span<std::uint32_t> as_numbers(std::span<std::byte> bytes, std::size_t count) {
  return {reinterpret_cast<std::uint32_t*>(bytes.data()), count};
}

std::vector<std::uint32_t> expected(std::vector<std::uint32_t> here, std::uint32_t rounds) {
  std::vector<std::uint32_t> there(here.size());
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < here.size(); ++i) {
      there[i] = here[(i + here.size() - 1) % here.size()] + here[(i + 1) % here.size()];
    }
    here.swap(there);
  }
  return here;
}

TEST_P(KernelsOn, AddNeighboursRoundByRound) {
  neighbour_sums_prepare(stream());
  auto const info = device().info();
  std::uint32_t const most = neighbour_sums_at_once(info);
  ASSERT_GE(most, 1U);
  for (std::size_t const count : std::initializer_list<std::size_t>{1, 2, 257, 70'001}) {
    std::vector<std::uint32_t> from(count), found(count);
    for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<std::uint32_t>(i * 2'654'435'761U + 1);
    std::size_t const bytes = count * sizeof(std::uint32_t);
    auto const one = memory(bytes), other = memory(bytes);
    for (std::uint32_t const rounds : {0U, 1U, 16U, 33U}) {
      auto const result = rounds % 2 == 0 ? one : other;
      upload(one, std::as_bytes(std::span(from)));
      for (std::uint32_t round = 0; round < rounds; ++round) {
        neighbour_sums(as_numbers(round % 2 == 0 ? one : other, count), as_numbers(round % 2 == 0 ? other : one, count),
                       stream());
      }
      download(std::as_writable_bytes(std::span(found)), result);
      ASSERT_EQ(found, expected(from, rounds)) << rounds << " launches for " << count;
      for (std::uint32_t const blocks : {1U, most}) {
        upload(one, std::as_bytes(std::span(from)));
        neighbour_sums_together(as_numbers(one, count), as_numbers(other, count), rounds, blocks, info, stream());
        download(std::as_writable_bytes(std::span(found)), result);
        ASSERT_EQ(found, expected(from, rounds)) << rounds << " rounds of " << blocks << " blocks for " << count;
      }
    }
  }
}

TEST_P(KernelsOn, AddNoNeighboursOfSpansThatDoNotFitNorByMoreBlocksThanFit) {
  auto const there = memory(1024);
  auto const one = as_numbers(there, 10), other = as_numbers(there.subspan(512), 10);
  auto const info = device().info();
  EXPECT_THROW(neighbour_sums(one, other.first(9), stream()), Error);
  EXPECT_THROW(neighbour_sums_together(one, other.first(9), 1, 1, info, stream()), Error);
  for (std::uint32_t const blocks : {0U, neighbour_sums_at_once(info) + 1}) {
    try {
      neighbour_sums_together(one, other, 1, blocks, info, stream());
      ADD_FAILURE() << blocks << " blocks were taken";
    } catch (Error const& refused) {
      EXPECT_EQ(refused.kind(), ErrorKind::bad_argument);
    }
  }
  neighbour_sums({}, {}, stream());
  neighbour_sums_together({}, {}, 1, 1, info, stream());
}

}  // namespace
}  // namespace penstock
