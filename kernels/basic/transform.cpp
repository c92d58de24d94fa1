// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// This value makes a model take as long as an H200 did, 0.46 ms for 2^25 elements, at 60e12 operations a second.
constexpr double flops_of_an_element = 820;
/// Elements of one CPU block: some 100 us of work.
constexpr std::size_t cpu_grain = 32'768;
constexpr std::uint64_t index_end = std::uint64_t{1} << 28;

/// sin^2 x + cos^2 x, where x is a float below 2^28.
///
/// x is reduced to [-pi/4, pi/4] by the nearest multiple of pi/2, which swaps the two squares or leaves them. Its 28
/// bits times `half_pi_high` of 25 bits is exact, so the remainder is known to 1e-16 even there. There are no branches
/// and no calls, so that compilers can do several at a time.
///
/// Source: the series of sine and cosine; the first terms left out are below 2e-9 and 3e-8 at pi/4.
[[gnu::always_inline]] inline float sum_of_squares(float x) {
  constexpr double half_pi = 1.57079632679489661923;
  constexpr double half_pi_high = 0x1.921fb5p+0;
  constexpr double half_pi_low = 0x1.110b4611a6263p-26;
  constexpr double to_integer = 0x1.8p52;  // Next to this number a double has no bits for fractions.
  double const wide = x;
  double const turns = (wide * (1 / half_pi) + to_integer) - to_integer;
  float const r = static_cast<float>((wide - turns * half_pi_high) - turns * half_pi_low);
  float const q = r * r;
  float const sine = r + r * q * (-1.0F / 6 + q * (1.0F / 120 + q * (-1.0F / 5040 + q * (1.0F / 362'880))));
  float const cosine = 1 + q * (-0.5F + q * (1.0F / 24 + q * (-1.0F / 720 + q * (1.0F / 40'320))));
  return sine * sine + cosine * cosine;
}

[[gnu::always_inline]] inline void transform_each(float const* from, double first_index, float* to,
                                                  std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    to[i] = from[i] + std::sqrt(sum_of_squares(static_cast<float>(first_index + i)));
  }
}

#ifdef __x86_64__
/// Does the same in wider registers, with the same rounding: half of the CPU time that a model of a GPU needs.
__attribute__((target("avx2"))) void transform_wide(float const* from, double first_index, float* to,
                                                    std::int32_t count) {
  transform_each(from, first_index, to, count);
}
#endif

void transform_part(float const* from, double first_index, float* to, std::int32_t count) {
#ifdef __x86_64__
  static bool const wide = __builtin_cpu_supports("avx2") != 0;
  if (wide) return transform_wide(from, first_index, to, count);
#endif
  transform_each(from, first_index, to, count);
}

}  // namespace

void transform(DeviceSpan<float const> from, std::uint64_t first_index, DeviceSpan<float> to, StreamRef stream,
               unsigned multiprocessors) {
  if (from.size() != to.size()) {
    throw Error(ErrorKind::bad_argument, "transform reads " + std::to_string(from.size()) + " floats and writes " +
                                             std::to_string(to.size()) + ": give spans of one length.");
  }
  if (from.size() > index_end || first_index > index_end - from.size()) {
    throw Error(ErrorKind::bad_argument, "transform knows indices up to 2^28 only: cut the input into parts.");
  }
  if (from.empty()) return;
  if (stream.kind() == DeviceKind::cuda) {
    return transform_cuda(from, first_index, to, blocks_on(multiprocessors), stream.native());
  }
  auto const blocks = static_cast<std::uint32_t>((from.size() + cpu_grain - 1) / cpu_grain);
  stream.launch(blocks,
                [=](KernelBlock block) {
                  std::size_t const start = block * cpu_grain;
                  transform_part(&from.in(block)[start], static_cast<double>(first_index + start), &to.in(block)[start],
                                 static_cast<std::int32_t>(std::min(cpu_grain, from.size() - start)));
                },
                {.reads = {from.as<std::byte const>()},
                 .writes = to.as<std::byte const>(),
                 .flops = flops_of_an_element * static_cast<double>(from.size()),
                 .blocks = modelled_blocks(multiprocessors, (from.size() + block_threads - 1) / block_threads),
                 .block_threads = block_threads});
}

void transform_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) transform_prepare_cuda();
}

double transform_error(std::span<float const> from, std::uint64_t first_index, std::span<float const> to) {
  if (from.size() != to.size()) {
    throw Error(ErrorKind::bad_argument, "transform_error compares spans of one length, not of " +
                                             std::to_string(from.size()) + " and " + std::to_string(to.size()) + ".");
  }
  double largest = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    double const x = static_cast<float>(first_index + i);
    double const sine = std::sin(x), cosine = std::cos(x);
    double const error = std::abs(to[i] - (from[i] + std::sqrt(sine * sine + cosine * cosine)));
    if (!(error <= largest)) largest = error;  // std::max would lose a NaN.
    if (std::isnan(error)) return error;
  }
  return largest;
}

}  // namespace penstock
