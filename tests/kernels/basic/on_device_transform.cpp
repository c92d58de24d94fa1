// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <random>

#include "kernels/kernels_on_device.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// Computes one stretch of the transform on a device, in place, and says how far off it is.
double error_on(KernelsOn& on, std::uint64_t first_index, std::size_t count, unsigned multiprocessors = 0) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> some(-1, 1);
  std::vector<float> from(count);
  for (float& value : from) value = some(random);
  std::vector<float> to(count, -5);
  auto const memory = on.memory(std::max<std::size_t>(count, 1) * sizeof(float));
  std::span const floats(reinterpret_cast<float*>(memory.data()), count);
  if (count > 0) on.upload(memory, std::as_bytes(std::span(from)));
  transform_prepare(on.stream());
  transform(floats, first_index, floats, on.stream(), multiprocessors);
  if (count > 0) on.download(std::as_writable_bytes(std::span(to)), memory);
  return transform_error(from, first_index, to);
}

/// The root's own error, and half a unit in the last place of a sum below 2.
constexpr double promised = 3e-7 + 6e-8;

TEST_P(KernelsOn, TransformEveryLength) {
  for (std::size_t const count :
       std::initializer_list<std::size_t>{0, 1, 3, 31, 257, 32'767, 32'768, 32'769, 100'001}) {
    EXPECT_LE(error_on(*this, 0, count), promised) << count << " floats";
  }
}

TEST_P(KernelsOn, TransformAllOfItOnFewMultiprocessors) {
  for (unsigned const multiprocessors : {1U, 3U}) EXPECT_LE(error_on(*this, 0, 100'001, multiprocessors), promised);
}

TEST_P(KernelsOn, TransformAsWellFarFromZero) {
  // Around a float's last integer without gaps, the texts' 2^25, and the end of what is promised.
  for (std::uint64_t const index : {1u << 16, (1u << 24) - 500, (1u << 25) - 1000, (1u << 28) - 50'000}) {
    EXPECT_LE(error_on(*this, index, 50'000 - 49'000 * (index == (1u << 25) - 1000)), promised) << "from " << index;
  }
}

TEST_P(KernelsOn, TransformIntoOtherMemoryAndLeaveTheInputAlone) {
  std::vector<float> const from(1000, 2.0F);
  auto const in = memory(4000), out = memory(4000);
  upload(in, std::as_bytes(std::span(from)));
  transform({reinterpret_cast<float*>(in.data()), 1000}, 0, {reinterpret_cast<float*>(out.data()), 1000}, stream());
  std::vector<float> after(1000), to(1000);
  download(std::as_writable_bytes(std::span(after)), in);
  download(std::as_writable_bytes(std::span(to)), out);
  EXPECT_EQ(after, from);
  EXPECT_LE(transform_error(from, 0, to), 6e-7);
}

}  // namespace
}  // namespace penstock
