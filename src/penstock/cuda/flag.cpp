// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/flag.hpp"

#include <atomic>

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// A page, so that nothing else lies in the line that the GPU writes.
constexpr std::size_t pinned_bytes = 4096;

std::uint64_t& pinned_word(Health& health) {
  void* address = nullptr;
  health.check(cudaHostAlloc(&address, pinned_bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
  auto& word = *static_cast<std::uint64_t*>(address);
  word = 0;
  return word;
}

}  // namespace

CudaFlag::WriteValue CudaFlag::find_write(Health& health) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  cudaError_t const answer =
      cudaGetDriverEntryPointByVersion("cuStreamWriteValue64", &found, 12000, cudaEnableDefault, &result);
#else
  cudaError_t const answer = cudaGetDriverEntryPoint("cuStreamWriteValue64", &found, cudaEnableDefault, &result);
#endif
  health.check(answer, "cudaGetDriverEntryPoint");
  if (result != cudaDriverEntryPointSuccess || found == nullptr) {
    throw Error(ErrorKind::unsupported,
                "This driver cannot have a stream write a 64-bit number: choose another signal, or install driver 12.0 "
                "or newer.");
  }
  return reinterpret_cast<WriteValue>(found);
}

CudaFlag::CudaFlag(Health& health) : FlagBackend(pinned_word(health)), health_(health), write_(nullptr), address_(0) {
  try {
    write_ = find_write(health);
    void* seen_by_device = nullptr;
    health.check(cudaHostGetDevicePointer(&seen_by_device, &word(), 0), "cudaHostGetDevicePointer");
    address_ = reinterpret_cast<unsigned long long>(seen_by_device);
    try_out();
  } catch (Error const&) {
    health_.report(cudaFreeHost(&word()), "cudaFreeHost");
    throw;
  }
}

/// A driver has the call also for GPUs that cannot do it.
void CudaFlag::try_out() {
  cudaStream_t stream = nullptr;
  health_.check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  auto answer = static_cast<cudaError_t>(write_(stream, address_, 1, 0));
  if (answer == cudaSuccess) answer = cudaStreamSynchronize(stream);
  health_.report(cudaStreamDestroy(stream), "cudaStreamDestroy");
  bool const written = std::atomic_ref(word()).load(std::memory_order_acquire) == 1;
  word() = 0;
  if (answer != cudaErrorNotSupported) health_.check(answer, "cuStreamWriteValue64");
  if (answer != cudaSuccess || !written) {
    throw Error(ErrorKind::unsupported, "This GPU cannot have a stream write a 64-bit number: choose another signal.");
  }
}

CudaFlag::~CudaFlag() {
  if (!health_.abandoned()) health_.report(cudaFreeHost(&word()), "cudaFreeHost");
}

CudaFlag& CudaFlag::of(FlagBackend& backend) {
  auto* const flag = dynamic_cast<CudaFlag*>(&backend);
  if (flag == nullptr) {
    throw Error(ErrorKind::bad_argument,
                "A CUDA stream was given the flag of another kind of device: make the flag with the device that made "
                "the stream.");
  }
  return *flag;
}

void CudaFlag::write(cudaStream_t stream, std::uint64_t number) {
  // By default the driver puts a fence for the whole system before the number. Its codes are those of the runtime.
  health_.check(static_cast<cudaError_t>(write_(stream, address_, number, 0)), "cuStreamWriteValue64");
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
