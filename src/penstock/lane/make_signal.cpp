// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/make_signal.hpp"

#include "penstock/error.hpp"
#include "penstock/lane/callback_in_stream_signal.hpp"
#include "penstock/lane/callback_signal.hpp"
#include "penstock/lane/event_block_signal.hpp"
#include "penstock/lane/event_poll_signal.hpp"
#include "penstock/lane/flag_signal.hpp"
#include "penstock/lane/host_func_signal.hpp"

namespace penstock {

std::unique_ptr<Signal> make_signal(SignalKind kind, SignalContext const& context) {
  switch (kind) {
    case SignalKind::callback:
      return std::make_unique<CallbackSignal>(context);
    case SignalKind::callback_in_stream:
      return std::make_unique<CallbackInStreamSignal>(context);
    case SignalKind::host_func:
      return std::make_unique<HostFuncSignal>(context);
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
