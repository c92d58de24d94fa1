// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "penstock/records/record_stages.hpp"
#include "penstock/stream.hpp"

namespace penstock::support {

/// Holds a stream still: the kernel that it controls runs until it is opened. Its destructor opens it, so declare it
/// after the stream.
class Hold {
 public:
  /// The part that a device's kind implements; it must keep whatever the kernel reads until the kernel has seen it
  /// open.
  class Gate {
   public:
    virtual ~Gate() = default;
    virtual void open() noexcept = 0;
    virtual bool reached() const noexcept = 0;
  };

  explicit Hold(std::shared_ptr<Gate> gate) noexcept : gate_(std::move(gate)) {}
  Hold(Hold&&) noexcept = default;
  Hold& operator=(Hold&&) = delete;
  ~Hold() {
    if (gate_) gate_->open();
  }

  void open() noexcept { gate_->open(); }
  /// True once the stream has reached it.
  bool reached() const noexcept { return gate_->reached(); }
  /// Blocks: until `reached()`.
  void await_reached() const noexcept {
    while (!reached()) std::this_thread::yield();
  }

 private:
  std::shared_ptr<Gate> gate_;
};

/// Kernels that tests need on a device, whatever its kind. Each was launched once before the first Hold, so that
/// nothing is loaded behind it.
class Kernels {
 public:
  virtual ~Kernels() = default;
  virtual void fill(StreamRef stream, DeviceSpan<std::byte> bytes, std::byte value) const = 0;
  /// Adds one to each byte, wrapping around.
  virtual void add_one(StreamRef stream, DeviceSpan<std::byte> bytes) const = 0;
  /// Puts the sum of each record's bytes, as 64 bits, into the record of `outputs`.
  virtual void sum_each(StreamRef stream, RecordTable inputs, DeviceSpan<std::byte const> input, RecordTable outputs,
                        DeviceSpan<std::byte> output) const = 0;
  virtual Hold hold(StreamRef stream) const = 0;
  /// False if one kernel waits for the end of another whatever their streams, as under compute-sanitizer.
  virtual bool run_beside_each_other() const { return true; }
};

/// Kernels of the CPU device. A Hold takes up one of its compute threads.
class CpuKernels final : public Kernels {
 public:
  void fill(StreamRef stream, DeviceSpan<std::byte> bytes, std::byte value) const override;
  void add_one(StreamRef stream, DeviceSpan<std::byte> bytes) const override;
  void sum_each(StreamRef stream, RecordTable inputs, DeviceSpan<std::byte const> input, RecordTable outputs,
                DeviceSpan<std::byte> output) const override;
  Hold hold(StreamRef stream) const override;
};

}  // namespace penstock::support
