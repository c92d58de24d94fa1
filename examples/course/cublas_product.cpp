// SPDX-License-Identifier: Apache-2.0
// A matrix of 4096 x 4096 halves times itself by cuBLAS: its time by events, beside the longer of the two that a data
// sheet predicts. Arguments: 10^12 operations a second on tensor cores and GB/s of memory, by default an H200's.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "floats.hpp"
#include <cublas_v2.h>
#include <penstock/models/devices.hpp>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(ErrorKind::device_refused, cublasGetStatusString(status));
}

}  // namespace

int main(int count, char** arguments) try {
  if (list_gpus().empty()) return 77;  // Its test is skipped.
  double const tera_flops = count > 1 ? std::atof(arguments[1]) : 989,
               memory = count > 2 ? std::atof(arguments[2]) : 4800;
  auto const device = open_device("cuda");
  constexpr int n = 4096, warm_up = 5, runs = 20;
  constexpr std::size_t size = std::size_t{n} * n;
  constexpr std::uint16_t one_half = 0x3c00, n_half = 0x6c00;  // 1 and 4096 as halves.
  std::vector<std::uint16_t> host(size, one_half);
  DeviceMemory const a = device->allocate(2 * size), c = device->allocate(2 * size);
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  Stream const stream = device->make_stream();
  stream.upload(a.bytes(), std::as_bytes(std::span(host)));
  cublasHandle_t handle = nullptr;
  check(cublasCreate(&handle));
  check(cublasSetStream(handle, cuda_stream(stream)));
  float const one = 1, zero = 0;
  for (int i = 0; i < warm_up + runs; ++i) {
    if (i == warm_up) stream.record(start);
    check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.bytes().data(), CUDA_R_16F, n,
                       a.bytes().data(), CUDA_R_16F, n, &zero, c.bytes().data(), CUDA_R_16F, n, CUBLAS_COMPUTE_32F,
                       CUBLAS_GEMM_DEFAULT));
  }
  stream.record(end);
  stream.download(std::as_writable_bytes(std::span(host)), c.bytes());
  stream.synchronize();
  double const took = course::milliseconds(start, end) / runs, flops = 2.0 * n * n * n, bytes = 3.0 * 2 * size;
  double const predicted = std::max(flops / tera_flops / 1e9, bytes / memory / 1e6);
  std::printf("4096 x 4096 x 4096 in halves: %.3f ms, %.0f * 10^12 operations a second\n", took, flops / took / 1e9);
  std::printf("predicted: %.3f ms, measured / predicted: %.2f\n", predicted, took / predicted);
  bool const right = std::ranges::all_of(host, [](std::uint16_t value) { return value == n_half; });
  std::printf("the product is %s\n", right ? "right" : "wrong");
  return cublasDestroy(handle), right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
