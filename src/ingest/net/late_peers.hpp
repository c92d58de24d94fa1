// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "engine/core/descriptor.hpp"
#include "ingest/net/connection_group.hpp"

namespace penstock {

/// Checks periodically for peers of a group that are silent or take too long for a record, and gives them up.
///
/// Threads: the one that has the group.
class LatePeers final : public Pollable {
 public:
  struct Limits {
    std::optional<std::chrono::milliseconds> silence = {};
    std::chrono::milliseconds record = {};
  };
  /// `group`, to which this object is added, must outlive it.
  ///
  /// Throws: Error of kind system, if the process has no descriptor left.
  LatePeers(ConnectionGroup& group, Limits limits);

  int descriptor() const noexcept override { return timer_.number; }
  bool ready(Contents& contents) override;

 private:
  ConnectionGroup& group_;
  Limits const limits_;
  Descriptor const timer_;
};

}  // namespace penstock
