// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "penstock/device_memory.hpp"

namespace penstock::cpu {

/// A flag of a CPU device: a number in a cache line of its own.
class CpuFlag final : public FlagBackend {
 public:
  CpuFlag() : FlagBackend(number_) {}

 private:
  alignas(64) std::uint64_t number_ = 0;
};

}  // namespace penstock::cpu
