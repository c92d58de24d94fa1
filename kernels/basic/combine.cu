// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

constexpr unsigned combine_threads = 256;

/// Sums of signed integers wrap around on a GPU as those of unsigned ones do.
template <class Element, ReduceOperation operation>
__global__ void __launch_bounds__(combine_threads)
    combine_elements(Element const* from, Element* into, std::uint64_t count) {
  std::uint64_t const i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Element const one = into[i], other = from[i];
  if constexpr (operation == ReduceOperation::sum) into[i] = one + other;
  if constexpr (operation == ReduceOperation::min) into[i] = other < one ? other : one;
  if constexpr (operation == ReduceOperation::max) into[i] = one < other ? other : one;
}

template <class Element>
auto kernel_of(ReduceOperation operation) {
  switch (operation) {
    case ReduceOperation::min:
      return combine_elements<Element, ReduceOperation::min>;
    case ReduceOperation::max:
      return combine_elements<Element, ReduceOperation::max>;
    case ReduceOperation::sum:
      break;
  }
  return combine_elements<Element, ReduceOperation::sum>;
}

}  // namespace

void combine_prepare_cuda(ElementType type, ReduceOperation operation) {
  with_element_type(
      type, [&]<class Element>(Element) { load_kernel(kernel_of<Element>(operation), "Loading the combine kernel"); });
}

void combine_cuda(DeviceSpan<std::byte const> from, DeviceSpan<std::byte> into, ElementType type,
                  ReduceOperation operation, void* stream) {
  with_element_type(type, [&]<class Element>(Element) {
    std::uint64_t const count = into.size() / sizeof(Element);
    auto const blocks = static_cast<unsigned>((count + combine_threads - 1) / combine_threads);
    launch_kernel<Element const*, Element*, std::uint64_t>(
        kernel_of<Element>(operation), blocks, combine_threads, stream, "The combine kernel",
        reinterpret_cast<Element const*>(from.address()), reinterpret_cast<Element*>(into.address()), count);
  });
}

}  // namespace penstock
