// SPDX-License-Identifier: Apache-2.0
// Devices by name: "auto", "cpu", "cuda:1", "model:h200", "all".
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"

namespace penstock {

inline namespace PENSTOCK_FLAVOUR {

/// Tells whether there is a GPU to use, and if not, why: "one GPU: NVIDIA H200", "this build has no CUDA", "no driver
/// is installed: ...".
///
/// Threads: any.
/// Blocks:  as long as the driver takes to start, once in a process.
std::string gpu_sentence();
/// True if this build includes the CUDA device.
bool built_with_cuda() noexcept;
/// True if a driver for GPUs seems to be present. This is a guess, for a caller that has other work to do while the
/// driver starts. `root` is put before /dev and /proc.
///
/// Threads: any.
/// Blocks:  never.
bool driver_present(std::filesystem::path const& root = "/");
/// The GPUs that this process could open, described without making a context on them; empty if anything prevents it.
///
/// Threads: any.
/// Blocks:  as gpu_sentence.
/// Throws:  Error, if a GPU answers and then does not describe itself.
std::vector<DeviceInfo> list_gpus();

/// Opens a device by its name: "auto" (the first GPU, or the CPU device where there is none), "cpu", "cuda" or
/// "cuda:1". Its flavour is that of this build.
///
/// The CPU device, also known as "cpu:0", computes with as many threads as can run at once: one for each CPU that the
/// calling thread may use, or fewer if a cgroup's quota is lower. `root` is put before /proc and /sys to find the
/// quota.
///
/// "model:h200", "model:h200@50" or "model:FILE" is the CPU device as a model of a GPU: docs/models.md. From then on
/// the Clock of this process is slower by a factor of 20, or by the factor behind "@". A process can therefore open
/// either models only or no models.
///
/// Threads: any; but open a model before other threads use the clock. The calling thread is attached to the GPU that
///          was opened.
/// Blocks:  tenths of a second for a GPU, to make its context.
/// Throws:  Error: bad_argument for another name, a missing model, a clock that is slower by another factor already, a
///          model after a real device and a real device after a model; unsupported if this build has no CUDA; and
///          errors of the devices.
std::unique_ptr<Device> open_device(std::string_view wish = "auto", std::filesystem::path const& root = "/");

/// Opens several devices by a list of names separated by commas, in this order, as "cuda:0,cuda:1". "cuda:all" and
/// "all" are every GPU; the latter is the CPU device if there is none. "cpu,cpu" and "cpu:0,cpu:1" are two CPU devices,
/// which share the threads that one would have. One name is a list, too.
///
/// Threads: any. The calling thread is attached to the GPU that was opened last.
/// Blocks:  as open_device, for each.
/// Throws:  Error: as open_device; bad_argument for a GPU that is named twice; no_device for "cuda:all" without a GPU.
Devices open_devices(std::string_view wishes = "auto", std::filesystem::path const& root = "/");

}  // namespace PENSTOCK_FLAVOUR

}  // namespace penstock
