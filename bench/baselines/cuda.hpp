// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

/// The few lines around CUDA that every program needs: errors as exceptions, handles that are released.
namespace baselines {

/// Throws: std::runtime_error, unless it went well.
inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}
/// Reports an error in a destructor, which cannot throw.
inline void complain(cudaError_t error) noexcept {
  if (error != cudaSuccess) std::fprintf(stderr, "CUDA, while cleaning up: %s\n", cudaGetErrorString(error));
}

/// A stream that does not synchronize with the default stream.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(Stream const&) = delete;
  Stream& operator=(Stream const&) = delete;
  ~Stream() { complain(cudaStreamDestroy(stream_)); }
  operator cudaStream_t() const noexcept { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event without a time.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  Event(Event const&) = delete;
  Event& operator=(Event const&) = delete;
  ~Event() { complain(cudaEventDestroy(event_)); }
  operator cudaEvent_t() const noexcept { return event_; }
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream)); }
  /// True if the stream has passed it.
  bool passed() const {
    cudaError_t const answer = cudaEventQuery(event_);
    if (answer != cudaErrorNotReady) {
      check(answer);
      return true;
    }
    // "Not yet" is not an error: a check after the next launch must not find it.
    if (cudaPeekAtLastError() == cudaErrorNotReady) static_cast<void>(cudaGetLastError());
    return false;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Floats on the GPU. The destructor waits for all work that still uses them.
class DeviceFloats {
 public:
  explicit DeviceFloats(std::size_t count) {
    check(cudaMalloc(reinterpret_cast<void**>(&floats_), count * sizeof(float)));
  }
  DeviceFloats(DeviceFloats const&) = delete;
  DeviceFloats& operator=(DeviceFloats const&) = delete;
  ~DeviceFloats() { complain(cudaFree(floats_)); }
  operator float*() const noexcept { return floats_; }

 private:
  float* floats_ = nullptr;
};

}  // namespace baselines
