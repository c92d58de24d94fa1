// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/callback_in_stream_signal.hpp"

namespace penstock {

CallbackInStreamSignal::CallbackInStreamSignal(SignalContext const& context) {
  calls_.reserve(context.depth);
  for (std::size_t i = 0; i < context.depth; ++i) {
    calls_.push_back(std::make_unique<TicketCallback>(context.tickets, context.bell));
  }
}

void CallbackInStreamSignal::put(std::uint64_t number, StreamRef stream, EventRef /*landed*/) {
  TicketCallback& call = *calls_[number % calls_.size()];
  call.stand_for(number);
  stream.call(call);
}

}  // namespace penstock
