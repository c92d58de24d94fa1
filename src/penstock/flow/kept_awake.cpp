// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/kept_awake.hpp"

#include <mutex>
#include <utility>

#include "penstock/plan/resolve_options.hpp"

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

Awake awake_of(PipelineOptions const& resolved) {
  bool const watch = resolved.tuning.borrow_spin && resolved.tuning.borrow_spin->count() > 0;
  return {.lanes = resolved.tuning.spin && resolved.tuning.spin->count() > 0 ? resolved.lanes : 0,
          .borrowers = watch ? 1U : 0U,
          .consumers = watch && enters_graph(resolved) ? 1U : 0U};
}

PipelineOptions KeptAwake::resolve(PipelineOptions options, std::vector<Device*> const& devices,
                                   Topology const& topology, std::vector<std::string>& remarks) {
  // One after the other, or two would find the same room.
  std::scoped_lock const lock(process().mutex);
  PipelineOptions resolved = penstock::resolve(std::move(options), devices, topology, remarks, process().awake);
  AwakeThreads mine = SpinRoom(devices, resolved, topology).taken(awake_of(resolved));
  process().awake.add(mine);
  mine_ = std::move(mine);  // What could not be counted for want of memory is not taken away again.
  return resolved;
}

KeptAwake::~KeptAwake() {
  std::scoped_lock const lock(process().mutex);
  process().awake.remove(mine_);
}

}  // namespace penstock
