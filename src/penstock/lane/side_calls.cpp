// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/side_calls.hpp"

namespace penstock {

SideCalls::SideCalls(SignalContext const& context, Ask ask)
    : ask_(ask), landed_(context.depth), side_(context.device.make_stream()) {
  calls_.reserve(context.depth);
  for (std::size_t i = 0; i < context.depth; ++i) {
    calls_.push_back(std::make_unique<TicketCallback>(context.tickets, context.bell));
  }
}

SideCalls::~SideCalls() = default;

void SideCalls::put(std::uint64_t number, EventRef landed) {
  landed_[number % landed_.size()] = landed;
  youngest_ = number;
}

void SideCalls::arm(std::uint64_t retired) {
  while (auto const number = stride_.next(youngest_, retired)) {
    // Its next use is `depth` tiles later, when this tile is retired; only a call that is late or doubled can meet it.
    TicketCallback& call = *calls_[*number % calls_.size()];
    call.stand_for(*number);
    side_.wait(*landed_[*number % landed_.size()]);
    (side_.*ask_)(call);
    stride_.asked_for(*number);
  }
}

}  // namespace penstock
