// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"

namespace penstock::support {

/// A CPU device that says it is a GPU, and counts its pins.
class SaysItIsAGpu final : public Device {
 public:
  explicit SaysItIsAGpu(int ordinal = 0, std::optional<int> node = std::nullopt) : ordinal_(ordinal), node_(node) {}
  DeviceInfo info() const override {
    DeviceInfo info = cpu_.info();
    info.kind = DeviceKind::cuda;
    info.ordinal = ordinal_;
    info.numa_node = node_;
    if (compute_units_) info.compute_units = *compute_units_;
    return info;
  }
  void attach() override { cpu_.attach(); }
  Flavour flavour() const noexcept override { return cpu_.flavour(); }
  StreamRef per_thread_default_stream() override { return cpu_.per_thread_default_stream(); }
  StreamRef legacy_default_stream() override { return cpu_.legacy_default_stream(); }
  Stream make_stream(StreamOptions options) override { return cpu_.make_stream(options); }
  Event make_event(EventOptions options) override { return cpu_.make_event(options); }
  Flag make_flag() override { return cpu_.make_flag(); }
  DeviceMemory allocate(std::size_t bytes) override { return cpu_.allocate(bytes); }
  Pinned pin(std::span<std::byte> host) override { return cpu_.pin(host); }
  std::optional<std::span<std::byte>> mapped(std::span<std::byte> host) override { return cpu_.mapped(host); }
  void synchronize() override { cpu_.synchronize(); }
  std::optional<Error> take_refusal() override { return cpu_.take_refusal(); }
  std::optional<Error> lost() override { return said_ ? said_ : cpu_.lost(); }
  void abandon(Error const& why) override { cpu_.abandon(why); }
  bool abandoned() const noexcept override { return cpu_.abandoned(); }
  void keep(std::shared_ptr<void> thing) override { cpu_.keep(std::move(thing)); }
  std::size_t pins() const { return cpu_.outstanding().pins; }
  /// Makes `lost` say so from here on, while nothing else knows.
  ///
  /// Threads: those that ask.
  void say_lost(Error const& why) { said_ = why; }
  void say_compute_units(int number) { compute_units_ = number; }
  cpu::FaultyCpuDevice& cpu() noexcept { return cpu_; }

 private:
  int const ordinal_;
  std::optional<int> const node_;
  std::optional<int> compute_units_;
  std::optional<Error> said_;
  cpu::FaultyCpuDevice cpu_{{.compute_threads = 1}};
};

}  // namespace penstock::support
