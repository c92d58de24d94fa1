// SPDX-License-Identifier: Apache-2.0
#include "penstock/kernels/sum.hpp"

#include <algorithm>
#include <string>

#include "penstock/core/error.hpp"
#include "penstock/kernels/cuda_bodies.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Elements of one CPU block: some 50 us of work, most of it memory's.
constexpr std::size_t cpu_grain = 65'536;

}  // namespace

void sum(std::span<float const> one, std::span<float const> other, std::span<float> to, StreamRef stream) {
  if (one.size() != to.size() || other.size() != to.size()) {
    throw Error(ErrorKind::bad_argument, "sum reads " + std::to_string(one.size()) + " and " +
                                             std::to_string(other.size()) + " floats and writes " +
                                             std::to_string(to.size()) + ": give spans of one length.");
  }
  if (to.empty()) return;
  if (stream.kind() == DeviceKind::cuda) return sum_cuda(one, other, to, stream.native());
  auto const blocks = static_cast<std::uint32_t>((to.size() + cpu_grain - 1) / cpu_grain);
  stream.launch(blocks, [=](std::uint32_t block) {
    std::size_t const end = std::min((block + std::size_t{1}) * cpu_grain, to.size());
    for (std::size_t i = block * cpu_grain; i < end; ++i) to[i] = one[i] + other[i];
  });
}

void sum_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) sum_prepare_cuda();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
