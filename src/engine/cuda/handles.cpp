// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/handles.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <string>

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

CudaEvent::CudaEvent(Health& health, EventOptions options)
    : health_(health), timing_(options.timing), interprocess_(options.interprocess) {
  if (timing_ && interprocess_) {
    throw Error(ErrorKind::bad_argument,
                "An event of several processes keeps no time: leave out timing or interprocess.");
  }
  unsigned flags = cudaEventDefault;
  if (!options.timing) flags |= cudaEventDisableTiming;
  if (options.blocking_wait) flags |= cudaEventBlockingSync;
  if (options.interprocess) flags |= cudaEventInterprocess;
  health_.check(cudaEventCreateWithFlags(&handle_, flags), "cudaEventCreateWithFlags");
}

CudaEvent::CudaEvent(Health& health, EventHandle const& handle) : health_(health), timing_(false), interprocess_(true) {
  auto const of_cuda = std::bit_cast<cudaIpcEventHandle_t>(handle.bytes);
  cudaError_t const answer = cudaIpcOpenEventHandle(&handle_, of_cuda);
  if (answer != cudaErrorNotSupported && answer != cudaSuccess && !is_sticky(answer)) {
    Error const refusal = failure(answer, "cudaIpcOpenEventHandle");
    throw Error(ErrorKind::bad_argument,
                std::string(refusal.what()) +
                    " The handle must be of another process that still has the event, made on this GPU.");
  }
  health_.check(answer, "cudaIpcOpenEventHandle");
  recorded_ = true;  // Perhaps, by the other process.
}

EventHandle CudaEvent::handle() {
  if (!interprocess_) return EventBackend::handle();
  cudaIpcEventHandle_t of_cuda = {};
  health_.check(cudaIpcGetEventHandle(&of_cuda, handle_), "cudaIpcGetEventHandle");
  return {.bytes = std::bit_cast<std::array<std::byte, sizeof(of_cuda)>>(of_cuda)};
}

CudaEvent::~CudaEvent() {
  if (!health_.leaves_all()) health_.report(cudaEventDestroy(handle_), "cudaEventDestroy");
}

CudaEvent& CudaEvent::of(EventBackend& backend) {
  auto* const event = dynamic_cast<CudaEvent*>(&backend);
  if (event == nullptr) {
    throw Error(ErrorKind::bad_argument,
                "A CUDA stream was given the event of another kind of device: make the event "
                "with the device that made the stream.");
  }
  return *event;
}

void CudaEvent::record(cudaStream_t stream) {
  health_.check(cudaEventRecord(handle_, stream), "cudaEventRecord");
  recorded_ = true;
}

bool CudaEvent::passed() {
  return health_.ready(cudaEventQuery(handle_), "cudaEventQuery");
}

void CudaEvent::wait() {
  health_.expect_waited_for("cudaEventSynchronize");
  health_.check(cudaEventSynchronize(handle_), "cudaEventSynchronize");
}

std::optional<std::chrono::nanoseconds> CudaEvent::since(EventBackend& earlier) {
  CudaEvent& start = of(earlier);
  if (!timing_ || !start.timing_) {
    throw Error(ErrorKind::bad_argument, "These events keep no time: make both with EventOptions::timing.");
  }
  if (!recorded_ || !start.recorded_) return std::nullopt;
  float milliseconds = 0;
  if (!health_.ready(cudaEventElapsedTime(&milliseconds, start.handle_, handle_), "cudaEventElapsedTime")) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<float, std::milli>(milliseconds));
}

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
  if (!health_.leaves_all()) health_.report(cudaFreeHost(&word()), "cudaFreeHost");
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

CudaCapture::CudaCapture(Health& health, cudaGraph_t graph) : health_(health) {
  health_.check(cudaGraphGetNodes(graph, nullptr, &operations_), "cudaGraphGetNodes");
  if (operations_ == 0) return;
  health_.check(cudaGraphInstantiateWithFlags(&handle_, graph, 0), "cudaGraphInstantiateWithFlags");
}

CudaCapture::~CudaCapture() {
  if (handle_ != nullptr && !health_.leaves_all())
    health_.report(cudaGraphExecDestroy(handle_), "cudaGraphExecDestroy");
}

CudaCapture& CudaCapture::of(CaptureBackend& backend) {
  auto* const capture = dynamic_cast<CudaCapture*>(&backend);
  if (capture == nullptr) {
    throw Error(ErrorKind::bad_argument,
                "A CUDA stream was given the capture of another kind of device: capture it with a stream of this one.");
  }
  return *capture;
}

void CudaCapture::upload(cudaStream_t stream) {
  if (handle_ != nullptr) health_.check(cudaGraphUpload(handle_, stream), "cudaGraphUpload");
}

void CudaCapture::launch(cudaStream_t stream) {
  if (handle_ != nullptr) health_.check(cudaGraphLaunch(handle_, stream), "cudaGraphLaunch");
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
