// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/lane/make_signal.hpp"
#include "penstock/lane/side_stream.hpp"
#include "penstock/lane/ticket_callback.hpp"

namespace penstock {

/// Calls from a side stream.
///
/// A call in a working stream makes that stream wait until the host has returned from it, which takes a third of the
/// throughput even with 1 MiB tiles (bench/lane/signal_bench).
///
/// Threads: the lane's. The calls come from the device's.
class SideCalls {
 public:
  /// How a stream is asked for a call: StreamRef::call or StreamRef::launch_host_function.
  using Ask = void (StreamRef::*)(StreamCallback&) const;

  SideCalls(SignalContext const& context, Ask ask);
  SideCalls(SideCalls const&) = delete;
  SideCalls& operator=(SideCalls const&) = delete;
  /// Blocks: until the device has made the calls that are due.
  ~SideCalls();

  /// As Signal's.
  void put(std::uint64_t number, EventRef landed) { side_.put(number, landed); }
  void arm(std::uint64_t retired);

 private:
  Ask const ask_;
  std::vector<std::unique_ptr<TicketCallback>> calls_;  ///< By number modulo depth.
  SideStream side_;  ///< The last member: it is destroyed first, and no call can come after that.
};

}  // namespace penstock
