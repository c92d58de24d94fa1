// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "penstock/cuda/health.hpp"
#include "penstock/flavour.hpp"
#include "penstock/stream.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

/// Owns a cudaEvent_t of the device that is current when it is made.
///
/// Threads: as EventRef.
class CudaEvent final : public EventBackend {
 public:
  /// Throws: Error.
  CudaEvent(Health& health, EventOptions options);
  CudaEvent(CudaEvent const&) = delete;
  CudaEvent& operator=(CudaEvent const&) = delete;
  ~CudaEvent() override;

  /// The event behind a backend.
  ///
  /// Throws: Error, if it is another kind of device's.
  static CudaEvent& of(EventBackend& backend);

  void record(cudaStream_t stream);
  cudaEvent_t handle() const noexcept { return handle_; }

  bool passed() override;
  void wait() override;
  std::optional<std::chrono::nanoseconds> since(EventBackend& earlier) override;
  void* native() const noexcept override { return handle_; }

 private:
  Health& health_;
  cudaEvent_t handle_ = nullptr;
  bool const timing_;
  bool recorded_ = false;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
