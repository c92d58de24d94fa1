// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/enumerate.hpp"

#include <algorithm>
#include <cctype>

#include "penstock/cuda/check.hpp"

namespace penstock::cuda {
namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
  return value;
}

/// In lower case, as /sys has it.
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
