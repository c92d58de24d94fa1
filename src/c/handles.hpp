// SPDX-License-Identifier: Apache-2.0
// The objects that programs in C have pointers to.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "c/adapters.hpp"
#include "c/device_places.hpp"
#include "c/waiting_run.hpp"

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"
#include "penstock/flavour.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"
#include "penstock/stages.hpp"

struct penstock_devices {
  std::shared_ptr<penstock::Devices> open;
};

struct penstock_pipeline {
  std::shared_ptr<penstock::Devices> devices;  ///< Dies last.
  /// Null unless results stay on their devices. It dies behind the pipeline, whose lanes use it.
  std::unique_ptr<penstock::c::DevicePlaces> places;
  penstock::Pipeline pipeline;
  /// Those of the tiles that the program has, by the index of the tile: their texts live as long.
  std::vector<std::shared_ptr<penstock::Failure const>> failures = {};
  std::mutex mutex = {};  ///< Guards `run`.
  std::shared_ptr<penstock::c::WaitingRun> run = {};

  /// Room that a stage has for the result of a tile.
  std::size_t output_bytes() const {
    return places != nullptr ? places->bytes() : pipeline.options().tile.output_bytes;
  }
  /// The stages with results where this pipeline has them.
  penstock::Stages placed(penstock::Stages const& stages) const {
    return places != nullptr ? places->keep(stages) : stages;
  }
  penstock::Sink placed(penstock::Sink sink) const { return places != nullptr ? places->told(std::move(sink)) : sink; }
  /// The stages of a run of this stage, or without one.
  ///
  /// Throws: Error of kind bad_argument.
  penstock::Stages stages_of(penstock_stage const* stage) const {
    if (stage != nullptr) return placed(penstock::c::stages_of(stage));
    penstock::TileShape const& shape = pipeline.options().tile;
    if (shape.in_place) {
      throw penstock::Error(penstock::ErrorKind::bad_argument,
                            "Without a stage tiles come as they are, and need not be in place.");
    }
    if (places != nullptr && places->are_inputs()) return places->keep_inputs();
    return placed(penstock::c::pass_through(output_bytes() > 0));
  }
  /// Throws: Error of kind bad_argument, if it runs.
  void expect_idle() {
    auto const before = waiting_run();
    if (!pipeline.running() && (before == nullptr || before->drained())) return;
    throw penstock::Error(penstock::ErrorKind::bad_argument,
                          "The pipeline runs already: penstock_drain ends that first.");
  }
  /// Makes a run of these arguments. Nothing runs yet.
  template <class... Arguments>
  void begin(Arguments&&... arguments) {
    failures.resize(pipeline.pool().size());
    auto made = std::make_shared<penstock::c::WaitingRun>(pipeline, std::forward<Arguments>(arguments)...);
    std::scoped_lock const lock(mutex);
    run = std::move(made);
  }
  std::shared_ptr<penstock::c::WaitingRun> waiting_run() {
    std::scoped_lock const lock(mutex);
    return run;
  }
};

struct penstock_report {
  penstock::Report report;
};
