// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/device/device.hpp"

namespace penstock {

/// Why there is or is not a GPU to use: "one GPU: NVIDIA H200", "this build has no CUDA", "no driver is installed:
/// ...".
std::string gpu_sentence();
/// Which default stream this build means by "0": "per-thread", "legacy", or "none" without CUDA.
std::string_view build_flavour() noexcept;
/// The GPUs that this process could open.
std::vector<DeviceInfo> list_gpus();

/// Opens a device by its name: "auto" (the first GPU, or the CPU device where there is none), "cpu", "cuda" or
/// "cuda:1".
///
/// Throws: Error: bad_argument for another name, unsupported if this build has no CUDA, and what the CUDA device
/// throws.
std::unique_ptr<Device> open_device(std::string_view wish = "auto");

}  // namespace penstock
