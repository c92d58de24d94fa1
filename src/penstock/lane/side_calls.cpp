// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/side_calls.hpp"

namespace penstock {

SideCalls::SideCalls(SignalContext const& context, Ask ask) : ask_(ask), side_(context) {
  calls_.reserve(context.depth);
  for (std::size_t i = 0; i < context.depth; ++i) {
    calls_.push_back(std::make_unique<TicketCallback>(context.tickets, context.bell));
  }
}

SideCalls::~SideCalls() = default;

void SideCalls::arm(std::uint64_t retired) {
  auto const always = [] { return true; };
  side_.arm(retired, always, [this](std::uint64_t number, StreamRef stream) {
    // Its next use is `depth` tiles later, when this tile is retired; only a call that is late or doubled can meet it.
    TicketCallback& call = *calls_[number % calls_.size()];
    call.stand_for(number);
    (stream.*ask_)(call);
  });
}

}  // namespace penstock
