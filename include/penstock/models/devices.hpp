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
