// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/stream.hpp"

#include <algorithm>
#include <string>

#include "penstock/cuda/event.hpp"
#include "penstock/cuda/flag.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {
namespace {

void check_room(std::size_t to, std::size_t from) {
  if (to >= from) return;
  throw Error(ErrorKind::bad_argument, "A copy of " + std::to_string(from) + " bytes does not fit into " +
                                           std::to_string(to) + ": give it a destination of at least its size.");
}

// Runs on a thread of the driver's, where every CUDA call is forbidden.
void CUDART_CB trampoline(cudaStream_t, cudaError_t status, void* call) {
  PendingCalls::make(*static_cast<PendingCalls::Call*>(call),
                     {.ok = status == cudaSuccess, .sticky = is_sticky(status), .code = static_cast<int>(status)});
}

void CUDART_CB host_function(void* call) {
  PendingCalls::make(*static_cast<PendingCalls::Call*>(call), {});
}

cudaStream_t create(Health& health, StreamOptions options) {
  int least = 0;
  int greatest = 0;
  health.check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  health.check(cudaStreamCreateWithPriority(&stream, options.blocking ? cudaStreamDefault : cudaStreamNonBlocking,
                                            std::clamp(options.priority, greatest, least)),
               "cudaStreamCreateWithPriority");
  return stream;
}

}  // namespace

void CudaStream::upload(std::span<std::byte> to, std::span<std::byte const> from) {
  check_room(to.size(), from.size());
  if (from.empty()) return;
  health_.expect_waited_for("An upload");
  health_.check(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyHostToDevice, handle_),
                "cudaMemcpyAsync (upload)");
}

void CudaStream::download(std::span<std::byte> to, std::span<std::byte const> from) {
  check_room(to.size(), from.size());
  if (from.empty()) return;
  health_.expect_waited_for("A download");
  health_.check(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDeviceToHost, handle_),
                "cudaMemcpyAsync (download)");
}

void CudaStream::launch(std::uint32_t, CpuKernel) {
  throw Error(ErrorKind::unsupported,
              "A CUDA stream runs no CPU kernel: give the stage a CUDA body, or run it on the CPU device.");
}

void CudaStream::record(EventBackend& event) {
  CudaEvent::of(event).record(handle_);
}

void CudaStream::wait(EventBackend& event) {
  health_.check(cudaStreamWaitEvent(handle_, CudaEvent::of(event).handle(), 0), "cudaStreamWaitEvent");
}

void CudaStream::call(StreamCallback& callback) {
  PendingCalls::Call& call = calls_.owe(callback);
  cudaError_t const answer = cudaStreamAddCallback(handle_, trampoline, &call, 0);
  // It may have taken the call and answer with the fault of earlier work.
  if (answer != cudaSuccess) PendingCalls::drop(call);
  health_.check(answer, "cudaStreamAddCallback");
}

void CudaStream::launch_host_function(StreamCallback& callback) {
  PendingCalls::Call& call = calls_.owe(callback);
  cudaError_t const answer = cudaLaunchHostFunc(handle_, host_function, &call);
  if (answer != cudaSuccess) PendingCalls::drop(call);
  health_.check(answer, "cudaLaunchHostFunc");
}

void CudaStream::write(FlagBackend& flag, std::uint64_t number) {
  CudaFlag::of(flag).write(handle_, number);
}

bool CudaStream::idle() {
  return health_.ready(cudaStreamQuery(handle_), "cudaStreamQuery");
}

void CudaStream::synchronize() {
  health_.expect_waited_for("cudaStreamSynchronize");
  health_.check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
}

OwnedCudaStream::OwnedCudaStream(Health& health, StreamOptions options) : CudaStream(health, create(health, options)) {}

OwnedCudaStream::~OwnedCudaStream() {
  if (health().abandoned()) return;
  health().report(cudaStreamSynchronize(handle()), "cudaStreamSynchronize");
  health().report(cudaStreamDestroy(handle()), "cudaStreamDestroy");
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
