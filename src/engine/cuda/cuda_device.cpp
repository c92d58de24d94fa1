// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/cuda_device.hpp"

#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "engine/cuda/default_stream.hpp"
#include "engine/cuda/handles.hpp"
#include "engine/cuda/memory.hpp"
#include "engine/cuda/probe.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Makes the context of a GPU that exists, and the GPU the calling thread's.
int open(int ordinal) {
  Probe const found = probe();
  if (!found.usable()) throw found.error();
  if (ordinal < 0 || ordinal >= found.gpus) {
    throw Error(ErrorKind::no_device, "There is no GPU " + std::to_string(ordinal) + ": choose from 0 to " +
                                          std::to_string(found.gpus - 1) + ".");
  }
  check(cudaSetDevice(ordinal), "cudaSetDevice");
  // Before CUDA 12 cudaSetDevice left the context to the first call that needs one; this is such a call.
  check(cudaFree(nullptr), "cudaFree");
  return ordinal;
}

/// Finds the driver's call; null, if it has none.
void* find_context_state() noexcept {
  constexpr char const* name = "cuDevicePrimaryCtxGetState";
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  cudaError_t const answer = cudaGetDriverEntryPointByVersion(name, &found, 7000, cudaEnableDefault, &result);
#else
  cudaError_t const answer = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (answer != cudaSuccess) static_cast<void>(cudaGetLastError());
  return answer == cudaSuccess && result == cudaDriverEntryPointSuccess ? found : nullptr;
}

}  // namespace

CudaDevice::CudaDevice(int ordinal)
    : ordinal_(open(ordinal)),
      health_(std::make_unique<Health>()),
      kept_(std::make_unique<Kept>()),
      per_thread_stream_(*health_, cuda::per_thread_stream()),
      legacy_stream_(*health_, cuda::legacy_stream()),
      pulse_(*health_, StreamOptions{}),
      context_state_(reinterpret_cast<ContextState>(find_context_state())) {}

CudaDevice::~CudaDevice() {
  if (!health_->leaves_all()) return;
  // The GPU may still use them, and threads of the driver's, or of the parent's, may yet come back from a wait.
  static_cast<void>(kept_.release());
  static_cast<void>(health_.release());
}

void CudaDevice::attach() {
  health_->expect_alive("A call");
  health_->check(cudaSetDevice(ordinal_), "cudaSetDevice");
}

DeviceInfo CudaDevice::info() const {
  health_->expect_alive("A question");
  health_->check(cudaSetDevice(ordinal_), "cudaSetDevice");
  DeviceInfo info = describe(ordinal_);
  health_->check(cudaMemGetInfo(&info.memory_free, &info.memory_bytes), "cudaMemGetInfo");
  health_->check(cudaDeviceGetStreamPriorityRange(&info.least_priority, &info.greatest_priority),
                 "cudaDeviceGetStreamPriorityRange");
  return info;
}

Flavour CudaDevice::flavour() const noexcept {
  return penstock::flavour();
}

StreamRef CudaDevice::per_thread_default_stream() {
  attach();
  return StreamRef(per_thread_stream_);
}

StreamRef CudaDevice::legacy_default_stream() {
  attach();
  return StreamRef(legacy_stream_);
}

Stream CudaDevice::make_stream(StreamOptions options) {
  attach();
  return Stream(std::make_unique<OwnedCudaStream>(*health_, options));
}

Event CudaDevice::make_event(EventOptions options) {
  attach();
  return Event(std::make_unique<CudaEvent>(*health_, options));
}

Event CudaDevice::open_event(EventHandle const& handle) {
  attach();
  return Event(std::make_unique<CudaEvent>(*health_, handle));
}

void CudaDevice::record_in(void* stream, EventRef event, bool behind) {
  auto* const handle = static_cast<cudaStream_t>(stream);
  CudaEvent& point = CudaEvent::of(event.backend());
  // Default streams are those of the current device.
  bool const is_default = handle == nullptr || handle == cuda::legacy_stream() || handle == cuda::per_thread_stream();
  int current = ordinal_;
  if (is_default) health_->check(cudaGetDevice(&current), "cudaGetDevice");
  if (current != ordinal_) health_->check(cudaSetDevice(ordinal_), "cudaSetDevice");
  cudaError_t const waits = behind ? cudaStreamWaitEvent(handle, point.event(), 0) : cudaSuccess;
  cudaError_t const records = waits == cudaSuccess ? cudaEventRecord(point.event(), handle) : waits;
  if (current != ordinal_) health_->check(cudaSetDevice(current), "cudaSetDevice");
  health_->check(records, behind ? "cudaEventRecord (behind its last)" : "cudaEventRecord");
}

Flag CudaDevice::make_flag() {
  attach();
  return Flag(std::make_unique<CudaFlag>(*health_));
}

DeviceMemory CudaDevice::allocate(std::size_t bytes) {
  attach();
  return cuda::allocate(*health_, bytes);
}

Pinned CudaDevice::pin(std::span<std::byte> host) {
  attach();
  return cuda::pin(*health_, host);
}

std::optional<std::span<std::byte>> CudaDevice::mapped(std::span<std::byte> host) {
  attach();
  return cuda::mapped(*health_, host);
}

void CudaDevice::synchronize() {
  attach();
  health_->check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

std::optional<Error> CudaDevice::take_refusal() {
  return health_->left_behind(cudaGetLastError());
}

/// Asks the GPU about a stream that never has work: it answers that all is well, or its fault.
///
/// Blocks: never.
cudaError_t CudaDevice::ask() const noexcept {
  // This comes first: a handle must not be asked after its context is gone, and choosing the GPU makes a new context.
  unsigned flags = 0;
  int active = 1;
  if (context_state_ != nullptr && context_state_(ordinal_, &flags, &active) == 0 && active == 0) {
    return cudaErrorDeviceUninitialized;
  }
  cudaError_t const answer = cudaSetDevice(ordinal_);
  return answer == cudaSuccess ? cudaStreamQuery(pulse_.handle()) : answer;
}

std::optional<Error> CudaDevice::lost() {
  if (auto fault = health_->fault()) return fault;
  // The fault may have been told to others: to a callback, or to code of the user's. A lost device answers every
  // question with it.
  int current = ordinal_;
  static_cast<void>(cudaGetDevice(&current));
  if (current == ordinal_) {
    health_->note_answer(ask(), "cudaStreamQuery");
    return health_->fault();
  }
  // The calling thread may be the application's, with another GPU or no GPU. For no GPU, GPU 0 is named as the current
  // one, and to choose it again would make a context there. So a thread asks that has no choice to restore.
  try {
    std::thread([this] { health_->note_answer(ask(), "cudaStreamQuery"); }).join();
  } catch (std::exception const&) {
    // No thread can be started now. The lanes ask on threads of their own.
  }
  return health_->fault();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
