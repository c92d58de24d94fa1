// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/probe.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "engine/cuda/check.hpp"

namespace penstock::cuda {
namespace {

constexpr char const* instead = " Without a GPU penstock works on the CPU device (open_device(\"cpu\"), --device cpu).";

std::string count(int gpus) {
  return std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs");
}

std::string no_driver(Findings const& found) {
  if (found.gpus_on_bus == 0) return "No NVIDIA driver is installed, and no NVIDIA GPU was found.";
  return "There is no NVIDIA driver for the " + count(found.gpus_on_bus) +
         " on the bus: install it, or start the container with GPU access (docker run --gpus all).";
}

std::string driver_too_old(Findings const& found) {
  return "The NVIDIA driver serves CUDA up to " + version_text(found.driver_version) + ", but this build needs " +
         version_text(found.runtime_version) + ": update the driver, or build with a CUDA toolkit of " +
         version_text(found.driver_version) + " or older.";
}

std::string no_gpu(Findings const& found) {
  std::string sentence = "The NVIDIA driver (CUDA " + version_text(found.driver_version) + ") finds no GPU";
  if (found.gpus_on_bus > 0) sentence += ", though the bus has " + std::to_string(found.gpus_on_bus);
  return sentence + ": see what nvidia-smi says, and start a container with GPU access (docker run --gpus all).";
}

std::string hidden(Findings const& found) {
  std::string sentence = "CUDA_VISIBLE_DEVICES is '" + *found.visible_devices + "', which leaves no GPU to use";
  if (found.gpus_on_bus > 0) sentence += " of " + std::to_string(found.gpus_on_bus);
  return sentence + ": unset it, or give it numbers that nvidia-smi -L lists.";
}

std::string unusable(Findings const& found) {
  return std::string("The driver could not offer a GPU: ") + cudaGetErrorName(found.answer) + " (" +
         cudaGetErrorString(found.answer) + "). " + std::string(remedy_for(found.answer));
}

Reach reach_of(Findings const& found) {
  switch (found.answer) {
    case cudaSuccess:
      if (found.gpus > 0) return Reach::usable;
      [[fallthrough]];
    case cudaErrorNoDevice:
      return found.visible_devices ? Reach::hidden : Reach::no_gpu;
    case cudaErrorInsufficientDriver:
      return found.driver_version == 0 ? Reach::no_driver : Reach::driver_too_old;
    case cudaErrorStubLibrary:
      return Reach::no_driver;
    default:
      return Reach::unusable;
  }
}

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
  return value;
}

/// Returns the id in lower case, as /sys has it.
std::string pci_bus_id(int ordinal) {
  char id[32] = {};
  check(cudaDeviceGetPCIBusId(id, sizeof id, ordinal), "cudaDeviceGetPCIBusId");
  std::string text = id;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

std::optional<int> numa_node(int ordinal, std::string const& id, PciBus const& bus) {
  int node = -1;
  // An older driver does not know this question; then the bus is asked.
  if (cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, ordinal) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    node = -1;
  }
  return node >= 0 ? std::optional(node) : bus.numa_node(id);
}

}  // namespace

std::string version_text(int version) {
  if (version == 0) return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Findings look() {
  Findings found;
  found.answer = cudaGetDeviceCount(&found.gpus);
  if (found.answer != cudaSuccess) {
    found.gpus = 0;
    // The refusal is in the findings; no later check is to be blamed for it.
    static_cast<void>(cudaGetLastError());
  }
  static_cast<void>(cudaDriverGetVersion(&found.driver_version));
  static_cast<void>(cudaRuntimeGetVersion(&found.runtime_version));
  found.gpus_on_bus = PciBus().nvidia_gpus();
  if (char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) found.visible_devices = visible;
  return found;
}

Probe judge(Findings const& found) {
  Reach const reach = reach_of(found);
  switch (reach) {
    case Reach::usable:
      return {reach, found.gpus, "CUDA offers " + count(found.gpus) + "."};
    case Reach::no_driver:
      return {reach, 0, no_driver(found) + instead};
    case Reach::driver_too_old:
      return {reach, 0, driver_too_old(found) + instead};
    case Reach::no_gpu:
      return {reach, 0, no_gpu(found) + instead};
    case Reach::hidden:
      return {reach, 0, hidden(found) + instead};
    case Reach::unusable:
      break;
  }
  return {Reach::unusable, 0, unusable(found) + instead};
}

Error Probe::error() const {
  switch (reach) {
    case Reach::no_driver:
      return Error(ErrorKind::no_driver, sentence);
    case Reach::driver_too_old:
      return Error(ErrorKind::driver_too_old, sentence);
    default:
      return Error(ErrorKind::no_device, sentence);
  }
}

int device_count() {
  return probe().gpus;
}

DeviceInfo describe(int ordinal, PciBus const& bus) {
  Findings const found = look();
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  info.ordinal = ordinal;
  info.name = properties.name;
  info.memory_bytes = properties.totalGlobalMem;
  info.copy_engines = attribute(cudaDevAttrAsyncEngineCount, ordinal);
  info.compute_units = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  info.pci_bus_id = pci_bus_id(ordinal);
  info.numa_node = numa_node(ordinal, info.pci_bus_id, bus);
  info.link = bus.link(info.pci_bus_id);
  info.capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.driver = version_text(found.driver_version);
  info.runtime = version_text(found.runtime_version);
  return info;
}

std::vector<DeviceInfo> list() {
  std::vector<DeviceInfo> devices;
  for (int i = 0, count = device_count(); i < count; ++i) devices.push_back(describe(i));
  return devices;
}

}  // namespace penstock::cuda
