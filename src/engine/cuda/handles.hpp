// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/cuda/health.hpp"
#include "penstock/device_memory.hpp"
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
  /// Opens the event of another process, which keeps it as well.
  ///
  /// Throws: Error; of kind bad_argument, if there is none.
  CudaEvent(Health& health, EventHandle const& handle);
  CudaEvent(CudaEvent const&) = delete;
  CudaEvent& operator=(CudaEvent const&) = delete;
  ~CudaEvent() override;

  /// The event behind a backend.
  ///
  /// Throws: Error, if it is another kind of device's.
  static CudaEvent& of(EventBackend& backend);

  void record(cudaStream_t stream);
  cudaEvent_t event() const noexcept { return handle_; }

  bool passed() override;
  void wait() override;
  std::optional<std::chrono::nanoseconds> since(EventBackend& earlier) override;
  void* native() const noexcept override { return handle_; }
  EventHandle handle() override;

 private:
  Health& health_;
  cudaEvent_t handle_ = nullptr;
  bool const timing_;
  bool const interprocess_;
  bool recorded_ = false;
};

/// A number in pinned memory of its own, which streams write by the driver's stream memory operations.
class CudaFlag final : public FlagBackend {
 public:
  /// Throws: Error; of kind unsupported, if driver or GPU cannot have streams write 64 bits.
  explicit CudaFlag(Health& health);
  ~CudaFlag() override;

  /// The flag behind a backend.
  ///
  /// Throws: Error, if it is another kind of device's.
  static CudaFlag& of(FlagBackend& backend);

  /// Has `stream` write `number` behind all that was put in.
  ///
  /// Throws: Error.
  void write(cudaStream_t stream, std::uint64_t number);

 private:
  /// The driver's cuStreamWriteValue64, which the runtime library has no name for.
  using WriteValue = int (*)(cudaStream_t stream, unsigned long long address, std::uint64_t value, unsigned flags);
  static WriteValue find_write(Health& health);
  void try_out();

  Health& health_;
  WriteValue write_;
  unsigned long long address_;
};

/// Owns a cudaGraphExec_t, or nothing if nothing was captured.
///
/// Threads: as Capture.
class CudaCapture final : public CaptureBackend {
 public:
  /// Makes what can be launched of `graph`, which stays the caller's.
  ///
  /// Blocks: while the driver makes it, some 10 us and more with its size.
  /// Throws: Error.
  CudaCapture(Health& health, cudaGraph_t graph);
  CudaCapture(CudaCapture const&) = delete;
  CudaCapture& operator=(CudaCapture const&) = delete;
  ~CudaCapture() override;

  /// Throws: Error, if it is another kind of device's.
  static CudaCapture& of(CaptureBackend& backend);

  std::size_t operations() const noexcept override { return operations_; }
  /// Brings it to the GPU, so that the first launch need not.
  void upload(cudaStream_t stream);
  void launch(cudaStream_t stream);

 private:
  Health& health_;
  std::size_t operations_ = 0;
  cudaGraphExec_t handle_ = nullptr;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
