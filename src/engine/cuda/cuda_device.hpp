// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/cuda/health.hpp"
#include "engine/cuda/stream.hpp"
#include "engine/device/kept.hpp"
#include "penstock/device.hpp"
#include "penstock/flavour.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

/// One GPU, through the CUDA runtime.
///
/// Threads: any. Every member leaves the calling thread attached to this GPU.
class CudaDevice final : public Device {
 public:
  /// Makes the GPU's context, and the GPU the calling thread's.
  ///
  /// Blocks: tenths of a second.
  /// Throws: Error of kind no_driver, driver_too_old or no_device.
  explicit CudaDevice(int ordinal = 0);
  ~CudaDevice() override;

  DeviceInfo info() const override;
  void attach() override;

  Flavour flavour() const noexcept override;
  StreamRef per_thread_default_stream() override;
  StreamRef legacy_default_stream() override;
  Stream make_stream(StreamOptions options = {}) override;
  Event make_event(EventOptions options = {}) override;
  Event open_event(EventHandle const& handle) override;
  void record_in(void* stream, EventRef event, bool behind) override;
  Flag make_flag() override;

  DeviceMemory allocate(std::size_t bytes) override;
  Pinned pin(std::span<std::byte> host) override;
  std::optional<std::span<std::byte>> mapped(std::span<std::byte> host) override;

  void synchronize() override;
  std::optional<Error> take_refusal() override;
  std::optional<Error> lost() override;
  void abandon(Error const& why) override { health_->abandon(why); }
  bool abandoned() const noexcept override { return health_->abandoned(); }
  void keep(std::shared_ptr<void> thing) override { kept_->keep(std::move(thing)); }

 private:
  cudaError_t ask() const noexcept;

  int const ordinal_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<Kept> kept_;
  CudaStream per_thread_stream_;
  CudaStream legacy_stream_;
  OwnedCudaStream pulse_;
  /// The driver's cuDevicePrimaryCtxGetState, found while there is a context: the search itself would make a new one.
  using ContextState = int (*)(int device, unsigned* flags, int* active);
  ContextState const context_state_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
