// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/machine/cpu_set.hpp"
#include "engine/machine/slab.hpp"
#include "engine/machine/topology.hpp"

namespace penstock {

/// Threads of one kind, and the CPUs that each is bound to; an empty set binds it to none.
struct PlacedThreads {
  std::string kind;  ///< "producer".
  std::vector<CpuSet> cpus;
};

/// Some memory, and the nodes on which its pages lie.
struct PlacedMemory {
  std::size_t bytes = 0;
  Residency pages;
};

/// Tells in one line where threads and memory are: "Threads: 3 producers, 1 lane on CPUs 0-3 (node 0); 1 consumer not
/// bound. Pages: 40 MiB on node 0, by move_pages(2) of 256 pages."
///
/// Bytes of a node are estimated from the pages that were asked about.
///
/// Threads: any.
std::string placed_text(Topology const& topology, std::span<PlacedThreads const> threads,
                        std::span<PlacedMemory const> memory);

}  // namespace penstock
