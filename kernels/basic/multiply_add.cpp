// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/multiply_add.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Elements of one CPU block: some 20 us for memory's part.
constexpr std::size_t cpu_grain = 32'768;
/// Elements whose rounds go on at the same time, in registers.
constexpr std::size_t at_once = 32;

/// The two numbers are arguments, so that no compiler knows the result of a round.
void add_rounds(float const* from, std::uint32_t rounds, float* to, std::size_t count, float factor, float addend) {
  for (std::size_t begin = 0; begin < count; begin += at_once) {
    std::array<float, at_once> x{};
    std::size_t const length = std::min(at_once, count - begin);
    std::copy_n(from + begin, length, x.begin());
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (float& one : x) one = one * factor + addend;
    }
    std::copy_n(x.begin(), length, to + begin);
  }
}

}  // namespace

void multiply_add(DeviceSpan<float const> from, std::uint32_t rounds, DeviceSpan<float> to, StreamRef stream) {
  if (from.size() != to.size()) {
    throw Error(ErrorKind::bad_argument, "multiply_add reads " + std::to_string(from.size()) + " floats and writes " +
                                             std::to_string(to.size()) + ": give spans of one length.");
  }
  if (from.empty()) return;
  float const factor = 1, addend = 1;
  if (stream.kind() == DeviceKind::cuda) {
    return multiply_add_cuda(from, rounds, to, factor, addend, stream.native());
  }
  std::size_t const count = stream.modelled() ? std::min(from.size(), multiply_add_sample) : from.size();
  stream.launch(static_cast<std::uint32_t>((count + cpu_grain - 1) / cpu_grain),
                [=](KernelBlock block) {
                  std::size_t const begin = block * cpu_grain, length = std::min(cpu_grain, count - begin);
                  add_rounds(&from.in(block)[begin], rounds, &to.in(block)[begin], length, factor, addend);
                },
                {.reads = {from.as<std::byte const>()},
                 .writes = to.as<std::byte const>(),
                 .flops = multiply_add_flops(rounds, from.size())});
}

void multiply_add_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) multiply_add_prepare_cuda();
}

}  // namespace penstock
