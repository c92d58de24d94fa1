// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/device.hpp"

namespace penstock {

/// A device without cost: it copies and computes nothing, and has passed everything when a call returns. All time that
/// a lane takes on it is the lane's own.
class FreeDevice : public Device {
 public:
  DeviceInfo info() const override {
    DeviceInfo info;
    info.name = "free device";
    return info;
  }
  void attach() override {}
  Flavour flavour() const noexcept override { return Flavour::per_thread; }
  StreamRef per_thread_default_stream() override { return StreamRef(stream_); }
  StreamRef legacy_default_stream() override { return StreamRef(stream_); }
  Stream make_stream(StreamOptions /*options*/) override { return Stream(std::make_unique<FreeStream>()); }
  Event make_event(EventOptions /*options*/) override { return Event(std::make_unique<FreeEvent>()); }
  Flag make_flag() override { return Flag(std::make_unique<FreeFlag>()); }
  DeviceMemory allocate(std::size_t bytes) override {
    auto region = std::make_unique<Region>();
    region->bytes.resize(bytes);
    std::span<std::byte> const all = region->bytes;
    return {all, std::move(region)};
  }
  Pinned pin(std::span<std::byte> /*host*/) override { return Pinned(); }
  std::optional<std::span<std::byte>> mapped(std::span<std::byte> host) override { return host; }
  void synchronize() override {}
  std::optional<Error> take_refusal() override { return std::nullopt; }
  std::optional<Error> lost() override { return std::nullopt; }
  void abandon(Error const& /*why*/) override {}
  bool abandoned() const noexcept override { return false; }
  void keep(std::shared_ptr<void> /*thing*/) override {}

 protected:
  class FreeEvent : public EventBackend {
   public:
    bool passed() override { return true; }
    void wait() override {}
    std::optional<std::chrono::nanoseconds> since(EventBackend& /*earlier*/) override { return std::nullopt; }
    void* native() const noexcept override { return nullptr; }
  };
  struct Word {
    alignas(64) std::uint64_t number = 0;
  };
  class FreeFlag final : private Word, public FlagBackend {
   public:
    FreeFlag() : FlagBackend(number) {}
  };
  struct Region final : RegionBackend {
    std::vector<std::byte> bytes;
  };
  class FreeStream : public StreamBackend {
   public:
    DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
    void upload(std::span<std::byte> /*to*/, std::span<std::byte const> /*from*/) override {}
    void download(std::span<std::byte> /*to*/, std::span<std::byte const> /*from*/) override {}
    void launch(std::uint32_t /*blocks*/, CpuKernel /*kernel*/, KernelCost const& /*cost*/) override {}
    void record(EventBackend& /*event*/) override {}
    void wait(EventBackend& /*event*/) override {}
    void call(StreamCallback& callback) override { callback.called({}); }
    void launch_host_function(StreamCallback& callback) override { callback.called({}); }
    void write(FlagBackend& flag, std::uint64_t number) override {
      std::atomic_ref<std::uint64_t>(flag.word()).store(number, std::memory_order_release);
    }
    void drop_calls() override {}
    bool idle() override { return true; }
    void synchronize() override {}
    void* native() const noexcept override { return nullptr; }
  };

 private:
  FreeStream stream_;
};

}  // namespace penstock
