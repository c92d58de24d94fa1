// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "penstock/core/loan.hpp"
#include "penstock/device/work_failure.hpp"
#include "penstock/lane/flight.hpp"
#include "penstock/lane/flight_events.hpp"
#include "penstock/lane/graph_capture.hpp"

namespace penstock {

/// A place for one tile on the device, and the tile itself while it is there. The files of Flight share it.
struct Flight::Slot {
  Slot(Device& device, bool split, std::size_t more_inputs) : plain(device, split, more_inputs) {}

  TileParts parts = {};  ///< Empty where nothing is copied.
  TileParts seen = {};   ///< What the stage sees: these, or the tile's own.
  TransferPath path = TransferPath::copied;
  std::size_t mapped_bytes = 0;  ///< That the stage moves over the link itself.
  SlotGraph graph;
  WorkFailure own_work;  ///< What this tile's work threw; for a batch's youngest tile also its batch's work.
  WorkFailure* work = &own_work;
  FlightEvents plain;
  /// Those of its batch: of the slot of its youngest tile, or of the flight's clock if the batch is timed.
  FlightEvents* events = &plain;
  Loan loan;
  std::shared_ptr<Failure const> failure;
  std::size_t batch = 1;  ///< How many were put with it, itself among them.
  bool leads = false;     ///< It is the oldest of them.
  /// The device let go of the slot. The flight waited for that, because the device refused to record `landed`.
  bool let_go = false;
  bool timed = false;  ///< The flight's clock knows the times of the batch.
};

}  // namespace penstock
