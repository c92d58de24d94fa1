// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/placement_request.hpp"

#include <string>

namespace penstock {

PlacementRequest placement_request(PipelineOptions const& options, DeviceInfo const& device) {
  PlacementRequest request;
  request.lanes = options.lanes;
  request.producers = options.producers;
  request.consumers = options.consumers;
  if (device.kind == DeviceKind::cuda || device.numa_node) {
    request.device = (device.kind == DeviceKind::cuda ? "GPU " : "CPU device ") + std::to_string(device.ordinal);
  }
  request.device_node = device.numa_node;
  request.bind = options.bind;
  return request;
}

}  // namespace penstock
