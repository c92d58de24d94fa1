// SPDX-License-Identifier: Apache-2.0
// Events of another device or of another process in a stream (docs/decisions/between-devices.md).
#pragma once

#include <memory>

#include "engine/cpu/operation.hpp"
#include "engine/cpu/scheduler.hpp"
#include "engine/cpu/shared_event.hpp"

namespace penstock::cpu {

/// Puts a wait for the last record so far of an event of another device into the stream. It ends early if the other
/// device is abandoned, or this one is lost.
///
/// Throws: Error, if either device is lost, or std::bad_alloc; nothing was put into the stream then.
void await_abroad(Scheduler& scheduler, StreamState& stream, Scheduler& other, EventState const& event);
/// Puts a record of an event of several processes into the stream; `event` is its state here. It is passed early if
/// this device is lost.
///
/// Throws: as Scheduler::enqueue; Error of kind bad_argument, if its record in another stream has not passed.
void record_shared(Scheduler& scheduler, StreamState& stream, EventState& event, std::shared_ptr<SharedEvent> shared);
/// Puts a wait for the last record so far of an event of several processes into the stream. It ends early if this
/// device is lost, or the process that recorded ends.
///
/// Throws: as Scheduler::enqueue; Error of kind system, if there is no thread for it: the stream then does not wait.
void await_shared(Scheduler& scheduler, StreamState& stream, SharedEvent& event);

}  // namespace penstock::cpu
