// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "penstock/observe/recording.hpp"

namespace penstock {

/// Makes CUPTI log the times of a GPU's copies and kernels, and passes them to a recorder at the end: one row for each
/// stream that it saw, with the work of the wanted tiles, copies and kernels apart. CUPTI is loaded when this is made.
/// It is a Ranges to learn which work belongs to a tile, so it must be a pipeline's `ranges`.
///
/// Unlike the times of events these do not include waiting: an upload begins when bytes move. They are recorded in
/// addition to the times of events.
///
/// Threads: as Ranges. CUPTI allows for one in a process at a time.
class ActivityLog : public Ranges {
 public:
  /// The recorder must outlive it. `library` is CUPTI's file; empty: that of CUDA 13 or 12, as the system finds
  /// libraries, in CUDA_HOME, or in /usr/local/cuda.
  ///
  /// Throws: Error of kind unsupported, if there is no CUPTI, or it refuses; the text says which and what to do.
  static std::unique_ptr<ActivityLog> open(StepLog& recorder, std::string const& library = {});

  /// Makes CUPTI deliver the records that it still has, and passes them to the recorder. Nothing is logged afterwards.
  ///
  /// Threads: one, once no work is in progress.
  /// Blocks:  until CUPTI has delivered all records.
  virtual void finish() = 0;
};

/// The recording without the passages from an ActivityLog: code that follows a tile's way by its steps would find the
/// steps on the device twice.
Recording without_activities(Recording recording);

}  // namespace penstock
