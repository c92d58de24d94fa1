// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/lane/make_signal.hpp"
#include "penstock/lane/stride.hpp"

namespace penstock {

/// A stream beside those that do the work: it waits for the last events of some tiles, those worth a call, and then
/// does what a signal puts behind them.
///
/// Threads: the lane's.
class SideStream {
 public:
  explicit SideStream(SignalContext const& context) : landed_(context.depth), stream_(context.device.make_stream()) {}

  /// As Signal's. All tiles since the last that was put have this event.
  void put(std::uint64_t number, EventRef landed) {
    while (youngest_ < number) landed_[++youngest_ % landed_.size()] = {number, landed};
  }
  /// For each tile that is worth a call by now, as long as `ready()`: has the stream wait for the tile's last event,
  /// and has `ask(number, stream)` say what comes behind. A request that throws is made again the next time.
  template <class Ready, class Ask>
  void arm(std::uint64_t retired, Ready ready, Ask ask) {
    while (auto const due = stride_.next(youngest_, retired)) {
      if (!ready()) return;
      // The last with the same event: another call for it would say nothing new.
      auto const& [number, landed] = *landed_[*due % landed_.size()];
      stream_.wait(landed);
      ask(number, StreamRef(stream_));
      stride_.asked_for(number);
    }
  }

 private:
  struct Landed {
    std::uint64_t youngest;  ///< Of those that were put at once.
    EventRef event;
  };
  std::vector<std::optional<Landed>> landed_;  ///< Of the tiles in flight, by number modulo depth.
  std::uint64_t youngest_ = 0;
  Stride stride_;
  Stream stream_;
};

}  // namespace penstock
