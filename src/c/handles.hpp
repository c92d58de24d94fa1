// SPDX-License-Identifier: Apache-2.0
// The objects that programs in C have pointers to.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "c/waiting_run.hpp"

#include "penstock/flavour.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"

struct penstock_devices {
  std::shared_ptr<penstock::Devices> open;
};

struct penstock_pipeline {
  std::shared_ptr<penstock::Devices> devices;  ///< Dies last.
  penstock::Pipeline pipeline;
  /// Those of the tiles that the program has, by the index of the tile: their texts live as long.
  std::vector<std::shared_ptr<penstock::Failure const>> failures = {};
  std::mutex mutex = {};  ///< Guards `run`.
  std::shared_ptr<penstock::c::WaitingRun> run = {};

  std::shared_ptr<penstock::c::WaitingRun> waiting_run() {
    std::scoped_lock const lock(mutex);
    return run;
  }
};

struct penstock_report {
  penstock::Report report;
};
