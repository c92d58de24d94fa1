// SPDX-License-Identifier: Apache-2.0
#include "kernels/blake3/blake3_wide.hpp"

#include <new>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/blake3/blake3_reference.hpp"
#include "kernels/blake3/blake3_subtree.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// Zeroed memory behind whose end a read kills the process.
class GuardedEnd {
 public:
  explicit GuardedEnd(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        size_((bytes + page_ - 1) / page_ * page_),
        start_(mmap(nullptr, size_ + page_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (start_ == MAP_FAILED || mprotect(last(0), page_, PROT_NONE) != 0) throw std::bad_alloc();
  }
  GuardedEnd(GuardedEnd const&) = delete;
  GuardedEnd& operator=(GuardedEnd const&) = delete;
  ~GuardedEnd() { munmap(start_, size_ + page_); }
  std::byte* last(std::size_t bytes) const { return static_cast<std::byte*>(start_) + size_ - bytes; }

 private:
  std::size_t page_;
  std::size_t size_;
  void* start_;
};

/// One width of this processor, and room for up to forty inputs.
struct Blake3EachWidth : testing::TestWithParam<std::size_t> {
  static constexpr std::size_t most = 40;
  Blake3Width const& width = blake3_widths()[GetParam()];
  std::vector<std::byte> const input = support::noise(most * blake3_chunk_bytes + 1);
  /// The values and what they should be, and after them bytes that must not be touched.
  std::vector<std::byte> values = std::vector<std::byte>((most + 1) * blake3_value_bytes, std::byte{0xee});
  std::vector<std::byte> expected = values;
};

TEST_P(Blake3EachWidth, HashesAnyNumberOfChunksAsOneByOne) {
  for (std::size_t count = 0; count <= most; ++count) {
    blake3_one.chunks(input.data(), count, 7, expected.data());
    width.chunks(input.data(), count, 7, values.data());
    ASSERT_EQ(values, expected) << count << " chunks";
  }
}

TEST_P(Blake3EachWidth, HashesAnyNumberOfParentsAsOneByOne) {
  for (std::size_t count = 0; count <= most; ++count) {
    blake3_one.parents(input.data(), count, expected.data());
    width.parents(input.data(), count, values.data());
    ASSERT_EQ(values, expected) << count << " parents";
  }
}

TEST_P(Blake3EachWidth, NeedsNoAlignment) {
  blake3_one.chunks(input.data() + 1, most, 0, expected.data() + 1);
  width.chunks(input.data() + 1, most, 0, values.data() + 1);
  EXPECT_EQ(values, expected);
}

TEST_P(Blake3EachWidth, CarriesTheChunkNumberPast32Bits) {
  constexpr std::uint64_t first = (std::uint64_t{1} << 32) - 20;
  blake3_one.chunks(input.data(), most, first, expected.data());
  width.chunks(input.data(), most, first, values.data());
  EXPECT_EQ(values, expected);
}

TEST_P(Blake3EachWidth, MergesParentsInPlace) {
  blake3_one.parents(input.data(), most, expected.data());
  std::vector<std::byte> place(input.begin(), input.begin() + most * blake3_block_bytes);
  width.parents(place.data(), most, place.data());
  place.resize(most * blake3_value_bytes);
  expected.resize(place.size());
  EXPECT_EQ(place, expected);
}

TEST_P(Blake3EachWidth, ReadsNothingBehindItsInput) {
  GuardedEnd const guarded(most * blake3_chunk_bytes);
  for (std::size_t count = 1; count <= most; ++count) {
    width.chunks(guarded.last(count * blake3_chunk_bytes), count, 0, values.data());
    blake3_one.chunks(guarded.last(count * blake3_chunk_bytes), count, 0, expected.data());
    width.parents(guarded.last(count * blake3_block_bytes), count, values.data());
    blake3_one.parents(guarded.last(count * blake3_block_bytes), count, expected.data());
    ASSERT_EQ(values, expected);
  }
}

TEST_P(Blake3EachWidth, AgreesWithThePaperOnWholeFiles) {
  auto const widths = blake3_widths().first(GetParam() + 1);
  for (std::size_t const size :
       std::initializer_list<std::size_t>{0, 1, 1024, 1025, 3 * 1024, 15 * 1024, 31 * 1024 + 5, 40 * 1024}) {
    std::span const file = std::span(input).first(size);
    EXPECT_EQ(blake3_hex(blake3_root(blake3_subtree(file, 0, widths))), support::blake3_reference(file)) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Blake3, Blake3EachWidth, testing::Range(std::size_t{0}, blake3_widths().size()),
                         [](auto const& test) { return std::to_string(blake3_widths()[test.param].width); });

TEST(Blake3Widths, BeginWithOneAndRise) {
  auto const widths = blake3_widths();
  ASSERT_FALSE(widths.empty());
  EXPECT_EQ(widths.front().width, 1u);
  for (std::size_t i = 1; i < widths.size(); ++i) EXPECT_GT(widths[i].width, widths[i - 1].width);
}

}  // namespace
}  // namespace penstock
