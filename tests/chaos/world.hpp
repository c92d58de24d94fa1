// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "chaos/chaos_case.hpp"

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::chaos {

/// Machine that pipelines are told of, by its number of nodes less one, as hwloc reads it.
inline constexpr std::array machines{"numa:1 core:2 pu:1", "numa:2 core:2 pu:1"};

/// CPU devices as the seed says, on a machine of one node or two as far as pipelines are told. When it dies nothing
/// that was lent may be out.
///
/// Threads: one.
class World {
 public:
  explicit World(Case& the_case);
  World(World const&) = delete;
  World& operator=(World const&) = delete;
  ~World();

  std::vector<Device*> devices() const;
  std::vector<std::unique_ptr<cpu::FaultyCpuDevice>>& own() noexcept { return devices_; }
  /// Options for a pipeline over these devices.
  PipelineOptions draw_options(Case& the_case) const;

 private:
  Case& case_;
  std::vector<std::unique_ptr<cpu::FaultyCpuDevice>> devices_;
};

/// Stages that add one to each byte; what they promise, and how they are made, is drawn.
Stages draw_stages(Case& the_case, PipelineOptions& options);

/// Adds one to each byte, in one block or two.
void add_one(DeviceSpan<std::byte const> input, DeviceSpan<std::byte> output, StreamRef stream);

/// Arms some faults of the devices, drawn, and sees to it that what is late comes at last.
///
/// Threads: one.
class Trouble {
 public:
  Trouble(Case& the_case, World& world);
  Trouble(Trouble const&) = delete;
  Trouble& operator=(Trouble const&) = delete;
  ~Trouble();

 private:
  void deliver();

  World& world_;
  std::atomic<bool> over_{false};
  std::thread deliverer_;
};

}  // namespace penstock::chaos
