// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/lane/make_signal.hpp"
#include "penstock/lane/stride.hpp"

namespace penstock {

/// A stream beside those that do the work: it waits for the last events of some tiles, those worth a call, and does
/// what a signal puts behind.
///
/// Threads: the lane's.
class SideStream {
 public:
  explicit SideStream(SignalContext const& context)
      : landed_(context.depth), stride_(context.calls_a_turn), stream_(context.device.make_stream()) {}

  /// As Signal's.
  void put(std::uint64_t number, EventRef landed) {
    landed_[number % landed_.size()] = landed;
    youngest_ = number;
  }
  /// For each tile that is worth a call by now, as long as `ready()`: has the stream wait for its last event, and
  /// `ask(number, stream)` say what comes behind. What throws is asked for again the next time.
  template <class Ready, class Ask>
  void arm(std::uint64_t retired, Ready ready, Ask ask) {
    while (auto const number = stride_.next(youngest_, retired)) {
      if (!ready()) return;
      stream_.wait(*landed_[*number % landed_.size()]);
      ask(*number, StreamRef(stream_));
      stride_.asked_for(*number);
    }
  }

 private:
  std::vector<std::optional<EventRef>> landed_;  ///< Of the tiles in flight, by number modulo depth.
  std::uint64_t youngest_ = 0;
  Stride stride_;
  Stream stream_;
};

}  // namespace penstock
