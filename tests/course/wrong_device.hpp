// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/cpu/cpu_device.hpp"

namespace penstock::support {

/// Faults of a device.
struct Wrong {
  bool one_stream = false;      ///< All streams are one.
  bool loses_uploads = false;   ///< It makes none.
  bool loses_launches = false;  ///< It launches no captures.
};

/// A CPU device, or a modelled GPU, with something wrong, so that experiments have something to find.
class WrongDevice final : public Device {
 public:
  explicit WrongDevice(Wrong wrong, cpu::CpuOptions options = {.compute_threads = 12})
      : wrong_(wrong), device_(std::move(options)), only_(device_.make_stream()) {}

  DeviceInfo info() const override { return device_.info(); }
  void attach() override { device_.attach(); }
  Flavour flavour() const noexcept override { return device_.flavour(); }
  StreamRef per_thread_default_stream() override { return device_.per_thread_default_stream(); }
  StreamRef legacy_default_stream() override { return device_.legacy_default_stream(); }
  Stream make_stream(StreamOptions options) override {
    if (wrong_.one_stream) return Stream(std::make_unique<Backend>(wrong_, std::nullopt, StreamRef(only_)));
    Stream own = device_.make_stream(options);
    StreamRef const stream(own);
    return Stream(std::make_unique<Backend>(wrong_, std::move(own), stream));
  }
  Event make_event(EventOptions options) override { return device_.make_event(options); }
  Flag make_flag() override { return device_.make_flag(); }
  DeviceMemory allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  Pinned pin(std::span<std::byte> host) override { return device_.pin(host); }
  std::optional<std::span<std::byte>> mapped(std::span<std::byte> host) override { return device_.mapped(host); }
  void synchronize() override { device_.synchronize(); }
  std::optional<Error> take_refusal() override { return device_.take_refusal(); }
  std::optional<Error> lost() override { return device_.lost(); }
  void abandon(Error const& why) override { device_.abandon(why); }
  bool abandoned() const noexcept override { return device_.abandoned(); }
  void keep(std::shared_ptr<void> thing) override { device_.keep(std::move(thing)); }

 private:
  class Backend final : public StreamBackend {
   public:
    Backend(Wrong wrong, std::optional<Stream> own, StreamRef stream)
        : wrong_(wrong), own_(std::move(own)), stream_(stream) {}

    DeviceKind kind() const noexcept override { return stream_.kind(); }
    void upload(std::span<std::byte> to, std::span<std::byte const> from) override {
      if (!wrong_.loses_uploads) stream_.upload(to, from);
    }
    void download(std::span<std::byte> to, std::span<std::byte const> from) override { stream_.download(to, from); }
    void launch(std::uint32_t blocks, CpuKernel kernel, KernelCost const& cost) override {
      stream_.launch(blocks, std::move(kernel), cost);
    }
    void record(EventBackend& event) override { stream_.record(EventRef(event)); }
    void wait(EventBackend& event) override { stream_.wait(EventRef(event)); }
    void call(StreamCallback& callback) override { stream_.call(callback); }
    void launch_host_function(StreamCallback& callback) override { stream_.launch_host_function(callback); }
    void write(FlagBackend& flag, std::uint64_t number) override { stream_.write(FlagRef(flag), number); }
    void drop_calls() override { stream_.drop_calls(); }
    bool idle() override { return stream_.idle(); }
    void synchronize() override { stream_.synchronize(); }
    void begin_capture() override { stream_.begin_capture(); }
    std::unique_ptr<CaptureBackend> end_capture() override { return std::make_unique<Kept>(stream_.end_capture()); }
    void launch(CaptureBackend& capture) override {
      if (!wrong_.loses_launches) stream_.launch(dynamic_cast<Kept&>(capture).capture);
    }
    void* native() const noexcept override { return stream_.native(); }
    bool modelled() const noexcept override { return stream_.modelled(); }

   private:
    struct Kept final : CaptureBackend {
      explicit Kept(Capture its) : capture(std::move(its)) {}
      std::size_t operations() const noexcept override { return capture.operations(); }
      Capture capture;
    };
    Wrong const wrong_;
    std::optional<Stream> own_;
    StreamRef const stream_;
  };

  Wrong const wrong_;
  cpu::CpuDevice device_;
  Stream const only_;
};

}  // namespace penstock::support
