// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "collective/all_reduce_methods.hpp"
#include "engine/core/own_process.hpp"
#include "penstock/collective.hpp"
#include "penstock/error.hpp"

namespace penstock {

AllReducer::AllReducer(DeviceGroup const& devices, ElementType type, ReduceOperation operation,
                       AllReduceOptions const& options)
    : devices_(devices.size()) {
  AllReducePlan const plan{devices, type, operation, options};
  auto const is_gpu = [](Device* device) { return device->info().kind == DeviceKind::cuda; };
  std::string why_no_nccl;
  if (devices.size() > 1 && std::ranges::all_of(devices.all(), is_gpu)) {
    if (!options.nccl) why_no_nccl = "NCCL is not wanted.";
    try {
      if (options.nccl) method_ = all_reduce_by_nccl(plan, how_);
    } catch (Error const& error) {
      if (error.kind() == ErrorKind::device_lost) throw;
      why_no_nccl = error.what();
    }
  }
  if (method_ != nullptr) return;
  method_ = all_reduce_by_thread(plan, how_);
  if (!why_no_nccl.empty()) how_ += ", because: " + why_no_nccl;
}

AllReducer::~AllReducer() {
  left_to_parent(method_);
}

void AllReducer::start(std::vector<Part> const& parts) {
  if (parts.size() != devices_) {
    throw Error(ErrorKind::bad_argument, "An all-reduce has " + std::to_string(parts.size()) + " parts on " +
                                             std::to_string(devices_) + " devices: give it one for each.");
  }
  std::size_t const bytes = parts.front().array.size();
  for (Part const& part : parts) {
    if (part.array.size() == bytes) continue;
    throw Error(ErrorKind::bad_argument, "An all-reduce has arrays of " + std::to_string(bytes) + " and of " +
                                             std::to_string(part.array.size()) +
                                             " bytes: give it arrays of one length.");
  }
  if (bytes > 0) method_->start(parts);
}

void AllReducer::wait() {
  method_->wait();
}

}  // namespace penstock
