// SPDX-License-Identifier: Apache-2.0
// The application's own memory for tiles, and the sizes that a pipeline needs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Memory that a part of a pipeline's pool needs.
struct MemoryNeeded {
  std::size_t bytes = 0;  ///< Whole pages.
  std::size_t tiles = 0;
  std::optional<int> node = {};  ///< The NUMA node where it should be; empty: any.
};

/// Returns the memory that a pipeline with these devices and options needs in PipelineOptions::own_memory: one piece
/// for each part of its pool, in their order, or one piece as large as all of them. There is a part for each NUMA node
/// that has some of the devices, so usually one.
///
/// Rules for the application's own memory:
/// - Each piece begins at a page and can be written. It may be larger: the rest is neither used nor pinned. Private,
///   shared and huge pages are allowed, also those of a file in memory (memfd_create). A file of a disk is allowed for
///   CPU devices; GPUs refuse to pin it on some systems.
/// - The pipeline's constructor makes all pages present, keeps their content, and pins them for each device; the
///   destructor unpins them. None of them may be pinned already, by another pipeline or by the application.
/// - If `tiles` is left to the pipeline, it has its usual number, or as many as fit.
/// - The application determines the NUMA node of pages. For a page that no thread has touched, the policy of the thread
///   that makes the pipeline decides. Report::placement tells the result.
/// - The memory must outlive the pipeline, which never unmaps it. A device that was abandoned (Tuning::patience) may
///   still write to it, so it must then stay mapped, and unused, until that device is gone: a CPU device when it is
///   destroyed, a GPU only at the end of the process. The pages of a GPU stay pinned until then. Device::abandoned
///   tells, as does a remark of the report. The same holds if a pipeline leaves its tiles in memory, as ~Pipeline says.
/// - Another process that writes to a tile must know when the tile is the application's: from Feed::borrow to
///   Feed::submit, and in the sink until the loan dies.
///
/// Threads: any.
/// Throws:  Error, as Pipeline does for options that it cannot have.
std::vector<MemoryNeeded> memory_needed(DeviceGroup const& devices, PipelineOptions options);

}  // namespace penstock
