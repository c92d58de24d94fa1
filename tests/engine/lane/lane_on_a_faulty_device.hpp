// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/lane_contract.hpp"
#include "models/faults.hpp"

namespace penstock {

/// Ways in which a signal can be wrong: in when, how often and whence it comes, or in what it says.
enum class Wrong : std::uint8_t { late, early, doubled, lost, stray, alarm, loss };

/// The fault that makes a signal of that kind wrong in that way, if it can be.
std::optional<cpu::Fault> fault_of(SignalKind signal, Wrong way);
/// Every lane on the CPU device whose signal can be wrong in that way.
std::vector<LaneUnderTest> lanes_that_can_be(Wrong way);

/// A CPU device that can be told to have faults of every kind. The lane asks the device itself every millisecond.
struct LaneOnAFaultyDevice : LaneContract {
  static constexpr std::uint64_t count = 20;

  cpu::FaultyCpuDevice& cpu() { return dynamic_cast<cpu::FaultyCpuDevice&>(device()); }
  /// Begins again with a device that knows of no faults; what was seen stays.
  void renew() {
    TearDown();
    SetUp();
  }
  static LaneOptions watchful() { return {.watchdog = std::chrono::milliseconds(1)}; }
  /// Makes one of this lane's signals wrong in that way: the `nth` from now on.
  void make_wrong(Wrong way, std::uint64_t nth = 1) { cpu().inject(*fault_of(GetParam().signal, way), nth); }
  /// Opens a lane that adds one, makes its third signal wrong in that way, and submits tiles 0 to 2. The lane gets all
  /// of them before the device is through with the first, so that it asks for a signal of each: one that is kept busy
  /// would see them pass and ask for no third.
  void open_and_spoil_the_third(Wrong way);
  /// Submits a tile, and lets the one at which `held` holds the device end once the lane sleeps.
  ///
  /// Blocks: until all tiles up to this one, from 0 on, have come back.
  void submit_and_end_asleep(Holding& held, std::uint64_t sequence) {
    submit(sequence);
    held.await_came(sequence + 1);
    held.hold->await_reached();
    held.await_asleep();
    held.hold->open();
    await_seen(sequence + 1);
  }
  /// Runs tiles 0 to 19, of which the third signal is wrong, and gives what came back.
  std::vector<Seen> run_with(Wrong way);

 private:
  Holding first_three_;  ///< Used by open_and_spoil_the_third.
};

}  // namespace penstock
