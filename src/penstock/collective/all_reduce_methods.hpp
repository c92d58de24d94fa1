// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "penstock/all_reduce.hpp"
#include "penstock/flavour.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// What is to be made one, and how.
struct AllReducePlan {
  DeviceGroup devices;
  ElementType type;
  ReduceOperation operation;
  AllReduceOptions options;
};

/// How an all-reduce is done.
///
/// Threads: one at a time.
class AllReduceMethod {
 public:
  virtual ~AllReduceMethod() = default;
  /// As AllReducer.
  virtual void start(std::span<AllReducer::Part const> parts) = 0;
  virtual void wait() = 0;
};

/// By NCCL; the work is enqueued by the thread that starts it. `how` is what AllReduce::how says.
///
/// Shape:  all devices are GPUs, two at least.
/// Blocks: about a second.
/// Throws: Error: of kind unsupported or device_refused, if NCCL is not there or refuses.
std::unique_ptr<AllReduceMethod> all_reduce_by_nccl(AllReducePlan const& plan, std::string& how);

/// By a thread that waits for the arrays. CPU devices then combine them by kernels; modelled GPUs take as long for that
/// as a ring over their links. Arrays of real GPUs are combined in memory of the host.
///
/// Throws: Error.
std::unique_ptr<AllReduceMethod> all_reduce_by_thread(AllReducePlan const& plan, std::string& how);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
