// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>

#include "penstock/error.hpp"
#include "penstock/stream.hpp"

namespace penstock::support {

/// A stream that has done everything when a call returns, on the calling thread: for code that only needs a stream.
///
/// It reports any kind, so that code which asks for the kind can be tested as on a GPU without one.
class InlineStream final : public StreamBackend {
 public:
  explicit InlineStream(DeviceKind kind = DeviceKind::cpu) : kind_(kind) {}

  DeviceKind kind() const noexcept override { return kind_; }
  void upload(std::span<std::byte> to, std::span<std::byte const> from) override {
    std::ranges::copy(from, to.begin());
  }
  void download(std::span<std::byte> to, std::span<std::byte const> from) override { upload(to, from); }
  /// The last block comes first: a kernel must not rely on an order.
  void launch(std::uint32_t blocks, CpuKernel kernel, KernelCost const& /*cost*/) override {
    ++launches;
    while (blocks > 0) kernel(block(--blocks));
  }
  void record(EventBackend& /*event*/) override {}
  void wait(EventBackend& /*event*/) override {}
  void call(StreamCallback& callback) override { callback.called({}); }
  void launch_host_function(StreamCallback& callback) override { callback.called({}); }
  void write(FlagBackend& flag, std::uint64_t number) override { flag.word() = number; }
  void drop_calls() override {}
  bool idle() override { return true; }
  void synchronize() override {}
  void* native() const noexcept override { return nullptr; }

  int launches = 0;

 private:
  DeviceKind kind_;
};

}  // namespace penstock::support
