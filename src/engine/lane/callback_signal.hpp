// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/lane/signal.hpp"

namespace penstock {

/// Selects the tiles that are worth a call of their own.
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
    // This goes by what is retired and not by what was called: a call that got lost must not keep others from being
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
  /// The tiles that the last calls were asked for, oldest first; a call counts no more once its tile is retired.
  std::array<std::uint64_t, most_under_way> asked_{};
};

/// A stream beside those that do the work: it waits for the last events of some tiles, those worth a call, and then
/// does what a signal puts behind them.
///
/// Threads: the lane's.
class SideStream {
 public:
  explicit SideStream(SignalContext const& context) : landed_(context.depth), stream_(context.device.make_stream()) {}

  /// Does what Signal::put says. All tiles since the last that was put have this event.
  void put(std::uint64_t number, EventRef landed) {
    while (youngest_ < number) landed_[++youngest_ % landed_.size()] = {number, landed};
  }
  /// For each tile that is due for a call, as long as `ready()`: has the stream wait for the tile's last event,
  /// and has `ask(number, stream)` say what comes behind. A request that throws is made again the next time.
  template <class Ready, class Ask>
  void arm(std::uint64_t retired, Ready ready, Ask ask) {
    while (auto const due = throttle_.next(youngest_, retired)) {
      if (!ready()) return;
      // This is the last with the same event: another call for it would say nothing new.
      auto const& [number, landed] = *landed_[*due % landed_.size()];
      stream_.wait(landed);
      ask(number, StreamRef(stream_));
      throttle_.asked_for(number);
    }
  }

 private:
  struct Landed {
    std::uint64_t youngest;  ///< The youngest of those that were put at once.
    EventRef event;
  };
  std::vector<std::optional<Landed>> landed_;  ///< Events of the tiles in flight, by number modulo depth.
  std::uint64_t youngest_ = 0;
  CallbackThrottle throttle_;
  Stream stream_;
};

/// A callback that does its two things: it pushes a ticket, and wakes the lane.
class TicketCallback final : public StreamCallback {
 public:
  /// Both outlive it.
  TicketCallback(Mailbox<Ticket>& tickets, EventCount& bell) noexcept : tickets_(tickets), bell_(bell) {}

  /// The tile that the next call is for.
  void stand_for(std::uint64_t number) noexcept { number_.store(number, std::memory_order_release); }
  void called(StreamStatus status) noexcept override {
    // A full mailbox is no loss: the lane has more tickets than tiles to read, and its watchdog asks the device itself.
    tickets_.push({number_.load(std::memory_order_acquire), status});
    bell_.notify();
  }

 private:
  Mailbox<Ticket>& tickets_;
  EventCount& bell_;
  // Atomic, because a device that calls twice may do so while the next promise is being made.
  std::atomic<std::uint64_t> number_{0};
};

/// A callback for each tile in flight. A tile's callback is used again `depth` tiles later, when the tile is retired;
/// only a call that is late or doubled can meet that use.
///
/// Threads: the lane's. The calls come from the device's.
class TicketCallbacks {
 public:
  explicit TicketCallbacks(SignalContext const& context) {
    calls_.reserve(context.depth);
    for (std::size_t i = 0; i < context.depth; ++i) {
      calls_.push_back(std::make_unique<TicketCallback>(context.tickets, context.bell));
    }
  }

  TicketCallback& for_tile(std::uint64_t number) noexcept {
    TicketCallback& call = *calls_[number % calls_.size()];
    call.stand_for(number);
    return call;
  }

 private:
  std::vector<std::unique_ptr<TicketCallback>> calls_;  ///< Callbacks by number modulo depth.
};

/// Tickets by calls from a side stream, one for several tiles. By StreamRef::call it is the only mechanism that CUDA
/// documents to come exactly once, and to bring the status of a device that failed. StreamRef::launch_host_function is
/// CUDA's newer callback: it knows no status, and is documented not to come once the device is lost.
///
/// A call in a working stream makes that stream wait until the host has returned from it, which takes a third of the
/// throughput even with 1 MiB tiles (bench/engine/lane/signal_bench).
class CallbackSignal final : public Signal {
 public:
  /// The way to ask a stream for a call: StreamRef::call or StreamRef::launch_host_function.
  using Ask = void (StreamRef::*)(StreamCallback&) const;

  CallbackSignal(SignalContext const& context, Ask ask) : ask_(ask), calls_(context), side_(context) {}
  CallbackSignal(CallbackSignal const&) = delete;
  CallbackSignal& operator=(CallbackSignal const&) = delete;
  /// Blocks: until the device has made the calls that are due.
  ~CallbackSignal() override = default;

  void put(std::uint64_t number, StreamRef /*stream*/, EventRef landed) override { side_.put(number, landed); }
  void arm(std::uint64_t retired) override {
    auto const always = [] { return true; };
    side_.arm(retired, always,
              [this](std::uint64_t number, StreamRef stream) { (stream.*ask_)(calls_.for_tile(number)); });
  }
  std::optional<std::uint64_t> read() const noexcept override { return std::nullopt; }
  bool wakes() const noexcept override { return true; }

 private:
  Ask const ask_;
  TicketCallbacks calls_;
  SideStream side_;  ///< The last member: it is destroyed first, and no call can come after that.
};

/// A stream callback behind each batch, in the tiles' own stream: the way that textbooks show, kept for comparison.
///
/// The stream continues only when the host has returned from the callback.
class CallbackInStreamSignal final : public Signal {
 public:
  explicit CallbackInStreamSignal(SignalContext const& context) : calls_(context) {}

  void put(std::uint64_t number, StreamRef stream, EventRef /*landed*/) override {
    stream.call(calls_.for_tile(number));
  }
  void arm(std::uint64_t /*retired*/) override {}
  std::optional<std::uint64_t> read() const noexcept override { return std::nullopt; }
  bool wakes() const noexcept override { return true; }

 private:
  TicketCallbacks calls_;
};

}  // namespace penstock
