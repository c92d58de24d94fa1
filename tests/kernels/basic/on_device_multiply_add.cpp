// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/multiply_add.hpp"
#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::span<float> as_floats(std::span<std::byte> bytes, std::size_t count) {
  return {reinterpret_cast<float*>(bytes.data()), count};
}

TEST_P(KernelsOn, AddAsManyRoundsAsAreAskedFor) {
  multiply_add_prepare(stream());
  for (std::size_t const count : std::initializer_list<std::size_t>{1, 31, 33, 255, 257, 32'769, 65'536}) {
    std::vector<float> from(count), to(count, -1);
    for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<float>(i % 97);
    std::size_t const bytes = count * sizeof(float);
    auto const from_there = memory(bytes), to_there = memory(bytes);
    upload(from_there, std::as_bytes(std::span(from)));
    for (std::uint32_t const rounds : {0U, 1U, 4U, 1025U}) {
      multiply_add(as_floats(from_there, count), rounds, as_floats(to_there, count), stream());
      download(std::as_writable_bytes(std::span(to)), to_there);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(to[i], from[i] + static_cast<float>(rounds)) << i << " of " << count << ", " << rounds << " rounds";
      }
    }
  }
}

TEST_P(KernelsOn, AddNoRoundsToNothingAndToNoSpansThatDoNotFit) {
  multiply_add({}, 1, {}, stream());
  auto const there = memory(1024);
  EXPECT_THROW(multiply_add(as_floats(there, 10), 1, as_floats(there, 9), stream()), Error);
}

}  // namespace
}  // namespace penstock
