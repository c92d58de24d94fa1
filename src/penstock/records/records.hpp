// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "penstock/flow/pipeline.hpp"
#include "penstock/records/record_completion.hpp"
#include "penstock/records/record_options.hpp"
#include "penstock/records/record_report.hpp"
#include "penstock/records/record_stage.hpp"
#include "penstock/records/record_writer.hpp"

namespace penstock {

/// Packs small pieces of work into a pipeline's tiles, and tells of each when it is done.
///
/// A tile leaves when it is full, when the lanes are hungry, or when its oldest record has waited long enough: so
/// records travel alone while there is little to do, and together under load.
///
/// Threads: one, but for `writer` and `stop`, which any may call.
class Records {
 public:
  /// Packs into the tiles of this pipeline, which must outlive it; nothing else may feed the pipeline meanwhile. If its
  /// options ask for as many producers as there will be writers, each writer has a tile to fill beside those in flight.
  ///
  /// Throws: Error, if the pipeline's tiles do not hold a record, or options contradict each other.
  explicit Records(Pipeline& pipeline, RecordOptions options = {});
  Records(Records const&) = delete;
  Records& operator=(Records const&) = delete;
  /// Stops and drains what is still going. No writer may be left.
  ///
  /// Blocks: until the last completion.
  ~Records();

  /// Makes lanes and stages, and lets records in. Without a sink only listeners are told.
  ///
  /// Throws: as Pipeline::start.
  void start(RecordStages stages, RecordSink sink);
  /// A writer, for a thread that is to write. It may be made before the start, and stays of use from run to run.
  ///
  /// Throws: std::bad_alloc.
  RecordWriter writer();
  /// Sends what was written, waits for all of it, finishes and merges the stages, and reports.
  ///
  /// Blocks: until the last completion; and while a thread fills a record in place.
  /// Throws: as Pipeline::drain.
  RecordReport drain();
  /// As Pipeline::stop: records that no device has started are cancelled.
  void stop() noexcept;

  /// The largest record that fits.
  std::size_t most_bytes() const noexcept;

 private:
  friend class RecordRoom;
  friend class RecordWriter;
  friend class RecordReply;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
