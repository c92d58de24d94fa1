// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/core/own_process.hpp"
#include "ingest/ring/ring_memory.hpp"
#include "ingest/ring/ring_reader.hpp"
#include "penstock/ingest/shared_ring.hpp"

namespace penstock {

/// A symbolic link to the memory, for as long as this lives.
class RingLink {
 public:
  /// Throws: as SharedRing.
  RingLink(std::string path, int descriptor);
  RingLink(RingLink const&) = delete;
  RingLink& operator=(RingLink const&) = delete;
  ~RingLink();

 private:
  std::string const path_, target_;
};

/// The implementation of a SharedRing.
struct SharedRing::Parts {
  explicit Parts(SharedRingShape const& shape) : memory(RingMemory::make(shape)), reader(*memory) {}

  OwnProcess const process;
  std::unique_ptr<RingMemory> const memory;
  RingReader reader;
  std::optional<RingLink> link = {};
};

}  // namespace penstock
