// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/event.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

CudaEvent::CudaEvent(Health& health, EventOptions options) : health_(health), timing_(options.timing) {
  unsigned flags = cudaEventDefault;
  if (!options.timing) flags |= cudaEventDisableTiming;
  if (options.blocking_wait) flags |= cudaEventBlockingSync;
  health_.check(cudaEventCreateWithFlags(&handle_, flags), "cudaEventCreateWithFlags");
}

CudaEvent::~CudaEvent() {
  if (!health_.abandoned()) health_.report(cudaEventDestroy(handle_), "cudaEventDestroy");
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

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
