// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "engine/cpu/cpu_stream.hpp"
#include "penstock/stream.hpp"

namespace penstock::cpu {

/// The object that each thread takes for its own default stream: each call goes to the stream of the thread that makes
/// it, which comes into being with its first call.
///
/// A thread's stream lives as long as the device. A thread that starts after another has ended may inherit its stream,
/// and is then ordered behind what is left in it.
class PerThreadStream final : public StreamBackend {
 public:
  using Make = std::function<std::unique_ptr<CpuStream>()>;
  PerThreadStream(Make make, bool modelled) : make_(std::move(make)), modelled_(modelled) {}

  DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
  void upload(std::span<std::byte> to, std::span<std::byte const> from) override { mine().upload(to, from); }
  void download(std::span<std::byte> to, std::span<std::byte const> from) override { mine().download(to, from); }
  void copy(std::span<std::byte> to, std::span<std::byte const> from) override { mine().copy(to, from); }
  DeviceMemory allocate(std::size_t bytes) override { return mine().allocate(bytes); }
  void launch(std::uint32_t blocks, CpuKernel kernel, KernelCost const& cost) override {
    mine().launch(blocks, std::move(kernel), cost);
  }
  void record(EventBackend& event) override { mine().record(event); }
  void wait(EventBackend& event) override { mine().wait(event); }
  void call(StreamCallback& callback) override { mine().call(callback); }
  void launch_host_function(StreamCallback& callback) override { mine().launch_host_function(callback); }
  void write(FlagBackend& flag, std::uint64_t number) override { mine().write(flag, number); }
  /// A thread that never used it has nothing due, and on a lost device would get no stream.
  void drop_calls() override;
  /// True also on a thread that never used it and has no memory for it now.
  bool idle() override;
  void synchronize() override { mine().synchronize(); }
  void launch(CaptureBackend& capture) override { mine().launch(capture); }
  void attribute(WorkFailure* failure) override { mine().attribute(failure); }
  void compute_here() override { mine().compute_here(); }
  void* native() const noexcept override { return nullptr; }
  bool modelled() const noexcept override { return modelled_; }

  std::size_t streams() const;

 private:
  CpuStream& mine();

  Make const make_;
  bool const modelled_;
  mutable std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<CpuStream>> streams_;
};

}  // namespace penstock::cpu
