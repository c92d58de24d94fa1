// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "penstock/recording.hpp"

namespace penstock {

/// Has CUPTI log when a GPU's copies and kernels ran, and tells a recorder in the end: for each stream that it saw a
/// row, on which the work of the wanted tiles is told apart by copy and kernel. CUPTI is loaded when this is made. As
/// Ranges it learns which work is a tile's, so it must be a pipeline's `ranges`.
///
/// Unlike the times of events these do not include waiting: an upload begins when bytes move. They come in addition to
/// the times of events.
///
/// Threads: as Ranges. CUPTI allows for one in a process at a time.
class ActivityLog : public Ranges {
 public:
  /// The recorder outlives it. `library` is CUPTI's; empty: the one of CUDA 13 or 12, where the system looks for
  /// libraries, in CUDA_HOME, or in /usr/local/cuda.
  ///
  /// Throws: Error of kind unsupported, if there is no CUPTI, or it refuses; the text says which and what to do.
  static std::unique_ptr<ActivityLog> open(StepLog& recorder, std::string const& library = {});

  /// Has CUPTI hand over what it still holds, and tells the recorder. Nothing is logged from then on.
  ///
  /// Threads: one, once no work is under way.
  /// Blocks:  until CUPTI has handed over all.
  virtual void finish() = 0;
};

/// The recording without the passages from an ActivityLog: code that follows a tile's way by its steps would find the
/// steps on the device twice.
Recording without_activities(Recording recording);

}  // namespace penstock
