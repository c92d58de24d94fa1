// SPDX-License-Identifier: Apache-2.0
// Devices by name: "auto", "cpu", "cuda:1", "model:h200", "all". Target: penstock::devices.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/named_devices.hpp"

namespace penstock {

inline namespace PENSTOCK_FLAVOUR {

/// Opens a device by its name: "auto" (the first GPU, or the CPU device where there is none), "cpu", "cuda" or
/// "cuda:1". Its flavour is that of this build.
///
/// The CPU device, also known as "cpu:0", computes with as many threads as can be busy at once: one for each CPU that
/// the calling thread may use, or fewer if a cgroup's quota says so. `root` stands before /proc and /sys where the
/// quota is read.
///
/// "model:h200", "model:h200@50" or "model:FILE" is the CPU device as a model of a GPU: docs/models.md. From then on
/// the Clock of this process is 20 times slower, or as many times as "@" says. So all devices that a process opens are
/// models, or none.
///
/// Threads: any; a model before other threads use the clock. The calling thread is attached to the GPU that was opened.
/// Blocks:  tenths of a second for a GPU, because its context is made.
/// Throws:  Error: bad_argument for another name, a model that is not there, and a clock that is slower by another
/// factor already, a model behind a real device and a real device behind a model; unsupported if this build has no
/// CUDA; and what the devices throw.
std::unique_ptr<Device> open_device(std::string_view wish = "auto", std::filesystem::path const& root = "/");

/// Opens several devices by a list of names with commas, in this order, as "cuda:0,cuda:1"; "cuda:all" is every GPU,
/// and "all" likewise, or the CPU device where there is none. "cpu,cpu" is two CPU devices, as is "cpu:0,cpu:1"; they
/// share the threads that one would have. One name is a list, too.
///
/// Threads: any. The calling thread is attached to the GPU that was opened last.
/// Blocks:  as open_device, for each.
/// Throws:  Error: as open_device; bad_argument for a GPU that is named twice; no_device for "cuda:all" without a GPU.
Devices open_devices(std::string_view wishes = "auto", std::filesystem::path const& root = "/");

}  // namespace PENSTOCK_FLAVOUR

}  // namespace penstock
