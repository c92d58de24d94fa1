// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "engine/machine/cpu_set.hpp"
#include "penstock/device.hpp"

namespace penstock {

/// One lane to be: its device, the CPUs its thread may run on (empty for any), and the part of the pool that lies next
/// to them.
struct LanePlace {
  Device* device = nullptr;
  CpuSet cpus = {};
  std::size_t pool_part = 0;
};

/// The CPUs that a producer may run on (empty for any), and the part of the pool from which it borrows first.
struct ProducerPlace {
  CpuSet cpus = {};
  std::size_t pool_part = 0;
};

}  // namespace penstock
