// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// Elements of one CPU block: some 50 us of work, most of it memory's.
constexpr std::size_t cpu_grain = 65'536;

}  // namespace

void sum(DeviceSpan<float const> one, DeviceSpan<float const> other, DeviceSpan<float> to, StreamRef stream) {
  if (one.size() != to.size() || other.size() != to.size()) {
    throw Error(ErrorKind::bad_argument,
                "sum reads " + std::to_string(one.size()) + " and " + std::to_string(other.size()) +
                    " floats and writes " + std::to_string(to.size()) +
                    ": give spans of one length. An input is as long as the source filled it, by "
                    "Tile::filled and, from the second on, Tile::more_filled.");
  }
  if (to.empty()) return;
  if (stream.kind() == DeviceKind::cuda) return sum_cuda(one, other, to, stream.native());
  auto const blocks = static_cast<std::uint32_t>((to.size() + cpu_grain - 1) / cpu_grain);
  stream.launch(
      blocks,
      [=](KernelBlock block) {
        std::size_t const begin = block * cpu_grain, end = std::min(begin + cpu_grain, to.size());
        float const* const a = one.in(block).data();
        float const* const b = other.in(block).data();
        float* const c = to.in(block).data();
        for (std::size_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
      },
      {.reads = {one.as<std::byte const>(), other.as<std::byte const>()}, .writes = to.as<std::byte const>()});
}

void sum_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) sum_prepare_cuda();
}

}  // namespace penstock
