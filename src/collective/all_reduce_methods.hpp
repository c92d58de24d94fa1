// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/core/own_process.hpp"
#include "penstock/collective.hpp"

namespace penstock {

/// Devices, element type and operation of an all-reduce, with its options.
struct AllReducePlan {
  DeviceGroup devices;
  ElementType type;
  ReduceOperation operation;
  AllReduceOptions options;
};

/// A method of doing an all-reduce.
///
/// Threads: one at a time.
class AllReduceMethod {
 public:
  virtual ~AllReduceMethod() = default;
  /// These have the contracts of AllReducer.
  virtual void start(std::span<AllReducer::Part const> parts) = 0;
  virtual void wait() = 0;

  OwnProcess const process = {};
};

/// The method by NCCL; the thread that starts it enqueues the work. `how` becomes the text of AllReduce::how.
///
/// Shape:  all devices are GPUs, two at least.
/// Blocks: about a second.
/// Throws: of kind unsupported or device_refused, if NCCL is missing or refuses.
std::unique_ptr<AllReduceMethod> all_reduce_by_nccl(AllReducePlan const& plan, std::string& how);

/// The method by a thread that waits for the arrays. CPU devices combine them by kernels; modelled GPUs take the time
/// of a ring over their links for that. Arrays of real GPUs are combined in host memory.
///
/// Throws: Error.
std::unique_ptr<AllReduceMethod> all_reduce_by_thread(AllReducePlan const& plan, std::string& how);

}  // namespace penstock
