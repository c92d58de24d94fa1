// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/cuda/health.hpp"
#include "engine/cuda/pending_calls.hpp"
#include "penstock/flavour.hpp"
#include "penstock/stream.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

/// A cudaStream_t that other code owns, such as a default stream.
///
/// Threads: as StreamRef.
class CudaStream : public StreamBackend {
 public:
  CudaStream(Health& health, cudaStream_t handle) : health_(health), handle_(handle) {}
  CudaStream(CudaStream const&) = delete;
  CudaStream& operator=(CudaStream const&) = delete;

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  void upload(std::span<std::byte> to, std::span<std::byte const> from) override;
  void download(std::span<std::byte> to, std::span<std::byte const> from) override;
  void upload_all(std::span<Copy const> copies) override;
  void download_all(std::span<Copy const> copies) override;
  void copy(std::span<std::byte> to, std::span<std::byte const> from) override;
  DeviceMemory allocate(std::size_t bytes) override;
  void launch(std::uint32_t blocks, CpuKernel kernel, KernelCost const& cost) override;
  void record(EventBackend& event) override;
  void wait(EventBackend& event) override;
  void call(StreamCallback& callback) override;
  void launch_host_function(StreamCallback& callback) override;
  void write(FlagBackend& flag, std::uint64_t number) override;
  void drop_calls() override { calls_.drop_all(); }
  bool idle() override;
  void synchronize() override;
  void launch(CaptureBackend& capture) override;
  void* native() const noexcept override { return handle_; }
  cudaStream_t handle() const noexcept { return handle_; }

 protected:
  Health& health() const noexcept { return health_; }

 private:
  void copy_all(std::span<Copy const> copies, cudaMemcpyKind kind, char const* what);
  void copy_in_batches(std::span<Copy const> copies);

  Health& health_;
  cudaStream_t handle_;
  PendingCalls calls_;
};

/// Owns a cudaStream_t of the device that is current when it is made.
class OwnedCudaStream final : public CudaStream {
 public:
  /// Throws: Error.
  OwnedCudaStream(Health& health, StreamOptions options);
  /// Blocks: until the stream's work is done, or the device is known to be lost.
  ~OwnedCudaStream() override;

  /// Only the calling thread is kept from what CUDA forbids meanwhile; other threads continue as before.
  void begin_capture() override;
  std::unique_ptr<CaptureBackend> end_capture() override;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
