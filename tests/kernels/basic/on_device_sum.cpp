// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

std::span<float> floats(std::span<std::byte> bytes, std::size_t count) {
  return {reinterpret_cast<float*>(bytes.data()), count};
}

TEST_P(KernelsOn, SumEveryLength) {
  for (std::size_t const count :
       std::initializer_list<std::size_t>{1, 255, 256, 257, 65'535, 65'536, 65'537, 300'001}) {
    std::vector<float> one(count), other(count, 0.5F), to(count, -1);
    std::iota(one.begin(), one.end(), 0.0F);
    std::size_t const bytes = count * sizeof(float);
    auto const one_there = memory(bytes), other_there = memory(bytes), to_there = memory(bytes);
    upload(one_there, std::as_bytes(std::span(one)));
    upload(other_there, std::as_bytes(std::span(other)));
    sum_prepare(stream());
    sum(floats(one_there, count), floats(other_there, count), floats(to_there, count), stream());
    download(std::as_writable_bytes(std::span(to)), to_there);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(to[i], static_cast<float>(i) + 0.5F) << i << " of " << count;
    }
  }
}

TEST_P(KernelsOn, SumNothingAndNoSpansThatDoNotFit) {
  sum({}, {}, {}, stream());
  auto const there = memory(1024);
  EXPECT_THROW(sum(floats(there, 10), floats(there, 11), floats(there, 10), stream()), Error);
  EXPECT_THROW(sum(floats(there, 10), floats(there, 10), floats(there, 9), stream()), Error);
}

}  // namespace
}  // namespace penstock
