// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace penstock::cli {

/// What the driver says on how a GPU can be shared, beside streams. Empty is what it does not say.
struct GpuSharing {
  std::optional<bool> mps = {};             ///< The service MPS shares the GPU between this process and others.
  std::optional<bool> green_contexts = {};  ///< Contexts with some of the multiprocessors can be made.
  std::optional<unsigned> least_green_context = {};  ///< The fewest multiprocessors of one.
  std::string mps_percentage = {};  ///< CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, the limit of MPS for this process.
};

/// Asks the driver, which is loaded if it was not. Nothing is made on the GPU.
///
/// Shape: `pci_bus_id` is that of DeviceInfo. `driver` is a name for the dynamic linker.
GpuSharing gpu_sharing(std::string const& pci_bus_id, char const* driver = "libcuda.so.1");

/// "MPS is off, green contexts of 8 multiprocessors or more"; empty if the driver says nothing.
std::string describe(GpuSharing const& sharing);

}  // namespace penstock::cli
