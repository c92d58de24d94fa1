// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "engine/cuda/pci.hpp"
#include "penstock/device.hpp"
#include "penstock/error.hpp"

namespace penstock::cuda {

/// Says whether this process can use a GPU and, if not, what stands in the way.
enum class Reach {
  usable,          ///< There is at least one.
  no_driver,       ///< The driver's library is not installed.
  driver_too_old,  ///< It is older than the runtime of this build needs.
  no_gpu,          ///< The driver works and finds no GPU.
  hidden,          ///< CUDA_VISIBLE_DEVICES leaves no GPU.
  unusable,        ///< The driver has one and cannot offer it.
};

/// Facts that were found on the machine, before they are judged.
struct Findings {
  cudaError_t answer = cudaSuccess;              ///< CUDA's answer when asked for the number of its GPUs.
  int gpus = 0;                                  ///< Number of the GPUs.
  int gpus_on_bus = 0;                           ///< GPUs that the PCI bus shows, driver or not.
  int driver_version = 0;                        ///< 1000 x major + 10 x minor; 0 without a driver.
  int runtime_version = 0;                       ///< Encoded in the same way.
  std::optional<std::string> visible_devices{};  ///< CUDA_VISIBLE_DEVICES, if it is set.
};

/// The judgement: what it is, and a sentence or two for the user, which name the remedy.
struct Probe {
  Reach reach = Reach::usable;
  int gpus = 0;
  std::string sentence;

  bool usable() const noexcept { return reach == Reach::usable; }
  /// The Error to throw instead of continuing without a GPU. Only if not `usable`.
  Error error() const;
};

/// Looks at this machine as this process sees it. Makes no context on any GPU.
///
/// Threads: any.
/// Blocks:  as long as the driver takes to start, once in a process.
Findings look();
/// Judges what was found, wherever it was found.
Probe judge(Findings const& found);
/// Judges this machine. Threads and Blocks are those of `look`.
inline Probe probe() {
  return judge(look());
}

/// "13.0" for 13000; empty for 0.
std::string version_text(int version);

/// Number of GPUs that this process can use; 0 if anything stands in the way.
///
/// Threads: any.
/// Blocks:  as look.
int device_count();

/// Describes one GPU, without a context on it and so without its free memory.
///
/// Threads: any.
/// Blocks:  as look.
/// Throws:  Error, if there is no such GPU.
DeviceInfo describe(int ordinal, PciBus const& bus = PciBus());

/// Every GPU that this process can use, described; empty if anything stands in the way.
///
/// Threads: any.
/// Blocks:  as look.
/// Throws:  Error, if a GPU is there and does not describe itself.
std::vector<DeviceInfo> list();

}  // namespace penstock::cuda
