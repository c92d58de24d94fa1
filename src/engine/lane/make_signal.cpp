// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/make_signal.hpp"

#include "engine/lane/callback_signal.hpp"
#include "engine/lane/event_block_signal.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// No tickets: the lane asks the event behind each tile, for as long as any is in flight.
class EventPollSignal final : public Signal {
 public:
  void put(std::uint64_t /*number*/, StreamRef /*stream*/, EventRef /*landed*/) override {}
  void arm(std::uint64_t /*retired*/) override {}
  std::optional<std::uint64_t> read() const noexcept override { return std::nullopt; }
  bool wakes() const noexcept override { return false; }
};

/// The stream writes the number of each batch's youngest tile to host memory, and the lane reads it there: a look costs
/// no call of the driver's.
///
/// Nothing is written on a lost device; that the lane's watchdog finds.
class FlagSignal final : public Signal {
 public:
  explicit FlagSignal(SignalContext const& context) : flag_(context.device.make_flag()) {}

  void put(std::uint64_t number, StreamRef stream, EventRef /*landed*/) override { stream.write(flag_, number); }
  void arm(std::uint64_t /*retired*/) override {}
  std::optional<std::uint64_t> read() const noexcept override { return flag_.read(); }
  bool wakes() const noexcept override { return false; }

 private:
  Flag flag_;
};

}  // namespace

std::unique_ptr<Signal> make_signal(SignalKind kind, SignalContext const& context) {
  switch (kind) {
    case SignalKind::callback:
      return std::make_unique<CallbackSignal>(context, &StreamRef::call);
    case SignalKind::callback_in_stream:
      return std::make_unique<CallbackInStreamSignal>(context);
    case SignalKind::host_func:
      return std::make_unique<CallbackSignal>(context, &StreamRef::launch_host_function);
    case SignalKind::event_poll:
      return std::make_unique<EventPollSignal>();
    case SignalKind::event_block:
      return std::make_unique<EventBlockSignal>(context);
    case SignalKind::flag:
      return std::make_unique<FlagSignal>(context);
  }
  throw Error(ErrorKind::bad_argument, "There is no such signal: choose one of SignalKind.");
}

}  // namespace penstock
