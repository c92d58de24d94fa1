// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/gpu_sharing.hpp"

#include <array>
#include <cstdlib>
#include <memory>

#include <dlfcn.h>

namespace penstock::cli {
namespace {

// The names and numbers of cuda.h, which this build need not have.
constexpr int mps_enabled = 133;    // CU_DEVICE_ATTRIBUTE_MPS_ENABLED
constexpr int multiprocessors = 1;  // CU_DEV_RESOURCE_TYPE_SM

/// CUdevResource of CUDA 12.4 and later. Drivers before that of CUDA 13 leave `least` as it is.
struct Resource {
  int type = 0;
  std::array<unsigned char, 92> padding = {};
  unsigned count = 0;
  unsigned least = 0;
  unsigned aligned = 0;
  std::array<unsigned char, 148> more = {};
};

struct Closed {
  void operator()(void* library) const noexcept { dlclose(library); }
};

template <class Function>
Function* function_of(void* library, char const* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

GpuSharing gpu_sharing(std::string const& pci_bus_id, char const* driver) {
  GpuSharing sharing;
  std::unique_ptr<void, Closed> const library(dlopen(driver, RTLD_LAZY | RTLD_LOCAL));
  if (library == nullptr) return sharing;
  auto* const begin = function_of<int(unsigned)>(library.get(), "cuInit");
  auto* const find = function_of<int(int*, char const*)>(library.get(), "cuDeviceGetByPCIBusId");
  auto* const ask = function_of<int(int*, int, int)>(library.get(), "cuDeviceGetAttribute");
  auto* const resource_of = function_of<int(int, Resource*, int)>(library.get(), "cuDeviceGetDevResource");
  int device = 0, value = 0;
  if (begin == nullptr || find == nullptr || begin(0) != 0 || find(&device, pci_bus_id.c_str()) != 0) return sharing;
  if (ask != nullptr && ask(&value, mps_enabled, device) == 0) sharing.mps = value != 0;
  Resource resource;
  sharing.green_contexts = resource_of != nullptr && resource_of(device, &resource, multiprocessors) == 0;
  if (resource.least > 0) sharing.least_green_context = resource.least;
  if (char const* const limit = std::getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE")) sharing.mps_percentage = limit;
  return sharing;
}

std::string describe(GpuSharing const& sharing) {
  std::string text;
  if (sharing.mps) {
    text += *sharing.mps ? "MPS is on" : "MPS is off";
    if (*sharing.mps && !sharing.mps_percentage.empty())
      text += " with " + sharing.mps_percentage + " % of the multiprocessors";
  }
  if (!sharing.green_contexts) return text;
  text += text.empty() ? "" : ", ";
  if (!*sharing.green_contexts) return text + "no green contexts";
  return text + "green contexts" +
         (sharing.least_green_context
              ? " of " + std::to_string(*sharing.least_green_context) + " multiprocessors or more"
              : "");
}

}  // namespace penstock::cli
