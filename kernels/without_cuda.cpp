// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/error.hpp"
#include "penstock/kernels/cuda_bodies.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::unsupported,
              "This build has no CUDA kernels: configure it with -DPENSTOCK_CUDA=ON, or use the CPU device.");
}

}  // namespace

void blake3_prepare_cuda() {
  refuse();
}

void blake3_tile_cuda(std::span<std::byte const> /*input*/, std::uint64_t /*first_chunk*/,
                      std::span<std::byte> /*node*/, std::span<std::byte> /*scratch*/, void* /*stream*/) {
  refuse();
}

void busy_prepare_cuda() {
  refuse();
}

void busy_cuda(std::chrono::nanoseconds /*duration*/, std::uint32_t /*blocks*/, Stamp* /*stamp*/, void* /*stream*/) {
  refuse();
}

void combine_prepare_cuda(ElementType /*type*/, ReduceOperation /*operation*/) {
  refuse();
}

void combine_cuda(std::span<std::byte const> /*from*/, std::span<std::byte> /*into*/, ElementType /*type*/,
                  ReduceOperation /*operation*/, void* /*stream*/) {
  refuse();
}

void count_bytes_prepare_cuda() {
  refuse();
}

void count_bytes_cuda(std::span<std::byte const> /*input*/, std::span<std::uint64_t> /*counts*/, void* /*stream*/) {
  refuse();
}

void sum_prepare_cuda() {
  refuse();
}

void sum_cuda(std::span<float const> /*one*/, std::span<float const> /*other*/, std::span<float> /*to*/,
              void* /*stream*/) {
  refuse();
}

void transform_prepare_cuda() {
  refuse();
}

void transform_cuda(std::span<float const> /*from*/, std::uint64_t /*first_index*/, std::span<float> /*to*/,
                    void* /*stream*/) {
  refuse();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
