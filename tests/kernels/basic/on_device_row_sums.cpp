// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

template <class Element>
DeviceSpan<Element> there(std::span<std::byte> bytes, std::size_t count) {
  return DeviceSpan<std::byte>(bytes.first(count * sizeof(Element))).as<Element>();
}

TEST_P(KernelsOn, SumTheRowsThatArePresentWhateverIsInTheOthers) {
  sum_present_rows_prepare(stream());
  std::mt19937 random(7);
  for (auto const& [rows, words] : {std::pair{1, 1}, {33, 31}, {64, 32}, {7, 1025}, {0, 40}}) {
    auto const count = static_cast<std::size_t>(rows), each = static_cast<std::size_t>(words);
    std::vector<std::uint32_t> all(count * each), mask((count + 31) / 32);
    for (auto& word : all) word = static_cast<std::uint32_t>(random());
    for (auto& word : mask) word = static_cast<std::uint32_t>(random());
    std::vector<std::uint64_t> expected(each), sums(each, 1);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t j = 0; j < each; ++j)
        expected[j] += (mask[k / 32] >> (k % 32) & 1U) * std::uint64_t{all[k * each + j]};
    }
    auto const all_there = memory(all.size() * 4 + 4), mask_there = memory(mask.size() * 4 + 4),
               sums_there = memory(each * 8);
    if (count != 0) upload(all_there.first(all.size() * 4), std::as_bytes(std::span(all)));
    if (count != 0) upload(mask_there.first(mask.size() * 4), std::as_bytes(std::span(mask)));
    sum_present_rows(there<std::uint32_t const>(all_there, all.size()),
                     there<std::uint32_t const>(mask_there, mask.size()), there<std::uint64_t>(sums_there, each),
                     stream());
    download(std::as_writable_bytes(std::span(sums)), sums_there.first(each * 8));
    EXPECT_EQ(sums, expected) << rows << " rows of " << words;
  }
}

TEST_P(KernelsOn, SumNoRowsThatAreNotWholeOrHaveNoBit) {
  sum_present_rows({}, {}, {}, stream());
  auto const some = memory(4096);
  auto const sums = there<std::uint64_t>(some, 10);
  auto const words = [&](std::size_t count) { return there<std::uint32_t const>(some, count); };
  EXPECT_THROW(sum_present_rows(words(19), words(1), sums, stream()), Error);
  EXPECT_THROW(sum_present_rows(words(330), words(1), sums, stream()), Error);
}

}  // namespace
}  // namespace penstock
