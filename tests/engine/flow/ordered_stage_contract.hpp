// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "engine/flow/pipeline_contract.hpp"

namespace penstock {

using Sequences = std::vector<std::uint64_t>;

/// A stage that counts the tiles that it has seen in the device's memory, and lanes that compute in streams of their
/// own, between which no default stream makes order. Each tile is given back as the count, so tile 0 as ones.
class OrderedStageContract : public PipelineContract {
 protected:
  static PipelineOptions usual(unsigned producers = 2) {
    PipelineOptions options = PipelineContract::usual();
    options.producers = producers;
    options.tuning.streams = StreamMode::own;
    return options;
  }
  Stages counting();
  /// The tiles that the stage of a lane was asked for since the last call, in the order of the calls.
  Sequences take_asked(unsigned lane);

 private:
  class Counting;
  std::mutex mutex_;
  std::map<unsigned, Sequences> asked_;
};

}  // namespace penstock
