// SPDX-License-Identifier: Apache-2.0
// A library with penstock in it and a global device, as a plug-in may be.
#include <memory>

#include "engine/cpu/cpu_device.hpp"

namespace {

std::unique_ptr<penstock::Device> device;

}  // namespace

extern "C" __attribute__((visibility("default"))) bool open_the_device_of_this_library() {
  device = std::make_unique<penstock::cpu::CpuDevice>(penstock::cpu::CpuOptions{.compute_threads = 1});
  return device->make_stream().idle();
}
