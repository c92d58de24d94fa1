// SPDX-License-Identifier: Apache-2.0
// Devices by name: what this process can open itself, and what makers add. Programs include devices.hpp, which names
// the makers that penstock has.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"

namespace penstock {

class DeviceMaker;
/// Makers of devices (device.hpp) that are asked, in this order. They outlive the call that they are given to.
using DeviceMakers = std::span<DeviceMaker const* const>;

inline namespace PENSTOCK_FLAVOUR {

/// Says why there is, or is not, a GPU to use: "one GPU: NVIDIA H200", "this build has no CUDA", "no driver is
/// installed: ...".
///
/// Threads: any.
/// Blocks:  as long as the driver takes to start, once in a process.
std::string gpu_sentence();
/// True if this build has the CUDA device.
bool built_with_cuda() noexcept;
/// True if a driver for GPUs seems to be there: a guess, for a caller that has something to do while it starts. `root`
/// stands before /dev and /proc.
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
/// "cuda:1"; any other name is for `makers`. Its flavour is that of this build.
///
/// The CPU device, also known as "cpu:0", computes with as many threads as can be busy at once: one for each CPU that
/// the calling thread may use, or fewer if a cgroup's quota says so. `root` stands before /proc and /sys where the
/// quota is read.
///
/// Threads: any; but open a device that slows the Clock before other threads use it. The calling thread is attached to
/// the GPU that was opened.
/// Blocks:  tenths of a second for a GPU, because its context is made.
/// Throws:  Error: bad_argument for another name, and for a clock that is slower by another factor already;
/// unsupported if this build has no CUDA; and what the devices and the makers throw.
std::unique_ptr<Device> open_device(std::string_view wish, DeviceMakers makers,
                                    std::filesystem::path const& root = "/");

/// Opens several devices by a list of names with commas, in this order, as devices.hpp says.
///
/// Threads: any. The calling thread is attached to the GPU that was opened last.
/// Blocks:  as open_device, for each.
/// Throws:  Error: as open_device; bad_argument for a GPU that is named twice; no_device for "cuda:all" without a GPU.
Devices open_devices(std::string_view wishes, DeviceMakers makers, std::filesystem::path const& root = "/");

}  // namespace PENSTOCK_FLAVOUR

}  // namespace penstock
