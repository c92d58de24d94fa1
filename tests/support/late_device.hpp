// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/too_slow.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock::support {

/// A CPU device that reports for each run a late clock, as a modelled GPU on a busy machine would.
class LateDevice final : public Device {
 public:
  static std::string sentence() {
    return std::string(too_slow_for_its_clock) + ": 7 % of the operations were late. Name it with a larger factor.";
  }
  bool late = true;
  bool modelled = false;
  std::set<unsigned> late_only_at = {};  ///< The only calls of `remarks` that say so, from 1; none for all.

  std::vector<std::string> remarks() override {
    ++asked_;
    bool const now = late && (late_only_at.empty() || late_only_at.contains(asked_));
    return now ? std::vector{sentence()} : std::vector<std::string>();
  }
  DeviceInfo info() const override {
    DeviceInfo info = cpu_.info();
    info.modelled = modelled;
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
  std::optional<Error> lost() override { return cpu_.lost(); }
  void abandon(Error const& why) override { cpu_.abandon(why); }
  bool abandoned() const noexcept override { return cpu_.abandoned(); }
  void keep(std::shared_ptr<void> thing) override { cpu_.keep(std::move(thing)); }

 private:
  cpu::CpuDevice cpu_;
  unsigned asked_ = 0;
};

}  // namespace penstock::support
