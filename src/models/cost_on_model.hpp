// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/operation.hpp"
#include "models/device_model.hpp"

namespace penstock::cpu {

/// Computes what an operation takes on a modelled device that does nothing else.
///
/// Threads: any.
/// Units:   nanoseconds.
class CostOnModel {
 public:
  explicit CostOnModel(DeviceModel const& model) : model_(model) {}

  double copy(Request const& copy) const noexcept;
  /// GB/s of a copy over the link.
  double link_rate(Request const& copy) const noexcept;
  /// Time of a kernel without what it takes to start.
  double kernel(Request const& kernel) const noexcept;
  /// Bytes of the device's memory that a kernel reads and writes.
  static double bytes_of_memory(Request const& kernel) noexcept;
  /// GB/s of the device's memory that a copy takes.
  double memory_of_copy(Request const& copy) const noexcept;
  /// The part of their rate that copies keep beside kernels that take `taken` GB/s of the device's memory.
  double kept_by_copies(double taken) const noexcept;
  /// Number of times that a kernel of that length fills the multiprocessors, one after the other. A kernel whose blocks
  /// are not known is cut into waves of 10 us.
  unsigned waves(Request const& kernel, double length) const noexcept;
  /// Part of the multiprocessors that the kernel takes.
  double share(Request const& kernel) const noexcept;

 private:
  /// GB/s to another GPU.
  double peer_rate() const noexcept;
  double tensor_tera_flops() const noexcept;
  double places(KernelCost const& cost) const noexcept;

  DeviceModel const& model_;
};

}  // namespace penstock::cpu
