// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/lane/make_signal.hpp"

namespace penstock {

/// Which tiles are worth a call of their own.
///
/// A driver makes some tens of thousands of calls a second, so no more than four calls are asked for tiles that the
/// lane has not retired. The lane asks for another when it has retired the tile of the oldest, whether it was called or
/// saw the tile pass. While few tiles are in flight, that is a call for each, for latency; a full lane is called eight
/// times while its slots go round once. Values from 1 to 128 make no difference (docs/performance.md).
///
/// Invariant: the tiles that it was asked for grow by number, so no tile is asked for twice.
/// Threads:   the lane's.
class CallbackThrottle {
 public:
  static constexpr std::size_t most_under_way = 4;
  static constexpr std::uint64_t calls_a_turn = 8;

  /// The tile to ask a call for now, if there is one.
  std::optional<std::uint64_t> next(std::uint64_t youngest, std::uint64_t retired) const noexcept {
    // Measured by what is retired and not by what was called: a call that got lost must not keep others from being
    // made.
    if (asked_.front() > retired) return std::nullopt;
    std::uint64_t const from = std::max(asked_.back(), retired);
    std::uint64_t const number = from + std::max<std::uint64_t>(1, (youngest - retired) / calls_a_turn);
    if (number > youngest) return std::nullopt;
    return number;
  }
  void asked_for(std::uint64_t number) noexcept {
    std::rotate(asked_.begin(), asked_.begin() + 1, asked_.end());
    asked_.back() = number;
  }

 private:
  /// The tiles that the last calls were asked for, oldest first; made up for once they are retired.
  std::array<std::uint64_t, most_under_way> asked_{};
};

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
    while (auto const due = throttle_.next(youngest_, retired)) {
      if (!ready()) return;
      // The last with the same event: another call for it would say nothing new.
      auto const& [number, landed] = *landed_[*due % landed_.size()];
      stream_.wait(landed);
      ask(number, StreamRef(stream_));
      throttle_.asked_for(number);
    }
  }

 private:
  struct Landed {
    std::uint64_t youngest;  ///< Of those that were put at once.
    EventRef event;
  };
  std::vector<std::optional<Landed>> landed_;  ///< Of the tiles in flight, by number modulo depth.
  std::uint64_t youngest_ = 0;
  CallbackThrottle throttle_;
  Stream stream_;
};

}  // namespace penstock
