// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/options.hpp"
#include "penstock/stages.hpp"

namespace penstock::measure {

/// A pipeline of a program that embeds penstock. The parts of most wait for something outside, like a disk or a
/// network, and take hardly any CPU: the gain of its advice does not depend on the number of cores.
///
/// Units: milliseconds a tile; 0 for a part that does not wait.
struct WaitingPipeline {
  char const* name;
  int source = 0;
  int stage = 0;   ///< Time on the lane's thread.
  int kernel = 0;  ///< Time on the device.
  int sink = 0;
  bool transforms = false;  ///< It fills tiles with numbers and computes on them.
  PipelineOptions options = {};
  Promises promises = {};
};

/// Pipelines that each starve for another reason, or of another size.
std::vector<WaitingPipeline> waiting_pipelines();

/// Result of following the first advice of a pipeline's verdict.
struct FollowedByAProgram {
  std::string bound;
  std::string verdict;  ///< The whole text of the verdict.
  std::string change;   ///< Empty if no advice could be followed.
  double promised = 1;
  std::vector<double> gained = {};  ///< Gain in bytes a second, one for each round.
};

/// Runs the pipeline, gets its verdict, and then runs it alternately as it was and as the advice says.
///
/// Throws: Error.
FollowedByAProgram follow_as_a_program(Device& device, WaitingPipeline const& pipeline, unsigned rounds,
                                       unsigned milliseconds);

}  // namespace penstock::measure
