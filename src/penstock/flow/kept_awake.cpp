// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/kept_awake.hpp"

#include <mutex>
#include <utility>

namespace penstock {
namespace {

/// Of all pipelines of the process. Never destroyed, since a pipeline may be static and die last.
struct Process {
  std::mutex mutex;
  AwakeThreads awake;
};
Process& process() {
  static auto* const one = new Process;
  return *one;
}

}  // namespace

Plan KeptAwake::plan(PipelineOptions const& options, std::vector<Device*> const& devices, Topology const& topology) {
  // One after the other, or two would find the same room.
  std::scoped_lock const lock(process().mutex);
  Plan made = penstock::plan(options, devices, topology, process().awake);
  AwakeThreads mine = made.awake;
  process().awake.add(mine);
  mine_ = std::move(mine);  // What could not be counted for want of memory is not taken away again.
  return made;
}

KeptAwake::~KeptAwake() {
  std::scoped_lock const lock(process().mutex);
  process().awake.remove(mine_);
}

}  // namespace penstock
