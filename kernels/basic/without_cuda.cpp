// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/error.hpp"

namespace penstock {

void refuse_without_cuda() {
  throw Error(ErrorKind::unsupported,
              "This build has no CUDA kernels: configure it with -DPENSTOCK_CUDA=ON, or use the CPU device.");
}

void blake3_prepare_cuda() {
  refuse_without_cuda();
}

void blake3_tile_cuda(DeviceSpan<std::byte const> /*input*/, std::uint64_t /*first_chunk*/,
                      DeviceSpan<std::byte> /*node*/, DeviceSpan<std::byte> /*scratch*/, void* /*stream*/) {
  refuse_without_cuda();
}

void busy_prepare_cuda() {
  refuse_without_cuda();
}

void busy_cuda(std::chrono::nanoseconds /*duration*/, std::uint32_t /*blocks*/, Stamp* /*stamp*/, void* /*stream*/) {
  refuse_without_cuda();
}

void combine_prepare_cuda(ElementType /*type*/, ReduceOperation /*operation*/) {
  refuse_without_cuda();
}

void combine_cuda(DeviceSpan<std::byte const> /*from*/, DeviceSpan<std::byte> /*into*/, ElementType /*type*/,
                  ReduceOperation /*operation*/, void* /*stream*/) {
  refuse_without_cuda();
}

void count_bytes_prepare_cuda() {
  refuse_without_cuda();
}

void count_bytes_cuda(DeviceSpan<std::byte const> /*input*/, DeviceSpan<std::uint64_t> /*counts*/,
                      std::size_t /*most_blocks*/, void* /*stream*/) {
  refuse_without_cuda();
}

void matrix_product_prepare_cuda() {
  refuse_without_cuda();
}

void matrix_product_cuda(DeviceSpan<std::uint16_t const> /*a*/, DeviceSpan<std::uint16_t const> /*b*/,
                         DeviceSpan<float> /*c*/, std::uint32_t /*rows*/, std::uint32_t /*columns*/,
                         std::uint32_t /*depth*/, void* /*stream*/) {
  refuse_without_cuda();
}

void matrix_roof_cuda(std::uint32_t /*rounds*/, float /*factor*/, float /*other*/, DeviceSpan<float> /*to*/,
                      void* /*stream*/) {
  refuse_without_cuda();
}

void multiply_add_prepare_cuda() {
  refuse_without_cuda();
}

void multiply_add_cuda(DeviceSpan<float const> /*from*/, std::uint32_t /*rounds*/, DeviceSpan<float> /*to*/,
                       float /*factor*/, float /*addend*/, void* /*stream*/) {
  refuse_without_cuda();
}

void neighbour_sums_prepare_cuda() {
  refuse_without_cuda();
}

void neighbour_sums_cuda(DeviceSpan<std::uint32_t const> /*from*/, DeviceSpan<std::uint32_t> /*to*/, void* /*stream*/) {
  refuse_without_cuda();
}

void neighbour_sums_together_cuda(DeviceSpan<std::uint32_t> /*one*/, DeviceSpan<std::uint32_t> /*other*/,
                                  std::uint32_t /*rounds*/, std::uint32_t /*blocks*/, void* /*stream*/) {
  refuse_without_cuda();
}

std::uint32_t neighbour_sums_at_once_cuda() {
  refuse_without_cuda();
}

void sum_present_rows_prepare_cuda() {
  refuse_without_cuda();
}

void sum_present_rows_cuda(DeviceSpan<std::uint32_t const> /*rows*/, DeviceSpan<std::uint32_t const> /*mask*/,
                           DeviceSpan<std::uint64_t> /*sums*/, void* /*stream*/) {
  refuse_without_cuda();
}

void sum_prepare_cuda() {
  refuse_without_cuda();
}

void sum_cuda(DeviceSpan<float const> /*one*/, DeviceSpan<float const> /*other*/, DeviceSpan<float> /*to*/,
              void* /*stream*/) {
  refuse_without_cuda();
}

void transform_prepare_cuda() {
  refuse_without_cuda();
}

void transform_cuda(DeviceSpan<float const> /*from*/, std::uint64_t /*first_index*/, DeviceSpan<float> /*to*/,
                    std::size_t /*most_blocks*/, void* /*stream*/) {
  refuse_without_cuda();
}

}  // namespace penstock
