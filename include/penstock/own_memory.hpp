// SPDX-License-Identifier: Apache-2.0
// Memory of the application's own as tiles: how much a pipeline needs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// What a part of a pipeline's pool needs of memory.
struct MemoryNeeded {
  std::size_t bytes = 0;  ///< Whole pages.
  std::size_t tiles = 0;
  std::optional<int> node = {};  ///< The NUMA node that it belongs on; empty: any.
};

/// How much memory a pipeline with these devices and options needs in PipelineOptions::own_memory: a piece for each
/// part of its pool, in their order, or one piece as large as all of them. There is a part for each NUMA node that has
/// some of the devices, so mostly one.
///
/// What holds of the application's own memory:
/// - Each piece begins at a page and can be written. It may be larger: what is not needed is neither used nor pinned.
///   Private, shared and huge pages are all good, of a file in memory (memfd_create) as well. A file of a disk is good
///   for CPU devices; GPUs refuse to pin it on some systems.
/// - The pipeline's constructor has all pages present, keeps what they hold, pins them for each device, and unpins them
///   at the end. None of them may be pinned before, by another pipeline or by the application.
/// - `tiles` that are left to the pipeline are as many as else, or as many as fit.
/// - Where pages lie is for the application to say. A page that no thread has touched comes to lie where the policy of
///   the thread says that makes the pipeline. Report::placement says where they lie.
/// - The memory outlives the pipeline, which never unmaps it. A device that was given up (Tuning::patience) may still
///   write to it, so it then stays mapped, and unused, until that device is gone: a CPU device when it is destroyed, a
///   GPU only at the end of the process. The pages of a GPU stay pinned until then. Device::abandoned tells, as does a
///   remark of the report. A pipeline that leaves its tiles where they are, as ~Pipeline says, needs it as long.
/// - Where another process writes to a tile, it must know when the tile is the application's: from Feed::borrow to
///   Feed::submit, and in the sink until the loan dies.
///
/// Threads: any.
/// Throws:  Error, as Pipeline does for options that it cannot have.
std::vector<MemoryNeeded> memory_needed(DeviceGroup const& devices, PipelineOptions options);

}  // namespace penstock
