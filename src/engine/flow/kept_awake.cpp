// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/kept_awake.hpp"

#include <mutex>
#include <utility>

namespace penstock {
namespace {

/// Awake threads of all pipelines of the process. It is never destroyed, since a pipeline may be static and die last.
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
  // Plans are made one after the other, or two would find the same room.
  std::scoped_lock const lock(process().mutex);
  Plan made = penstock::plan(options, devices, topology, process().awake);
  AwakeThreads mine = made.awake;
  process().awake.add(mine);
  mine_ = std::move(mine);  // Threads that were not counted for want of memory are not taken away again.
  return made;
}

KeptAwake::~KeptAwake() {
  std::scoped_lock const lock(process().mutex);
  process().awake.remove(mine_);
}

}  // namespace penstock
