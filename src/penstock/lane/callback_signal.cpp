// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/callback_signal.hpp"

#include <algorithm>

namespace penstock {

/// One outstanding callback. Its next use is `depth` tiles later, when the lane has retired the tile of this one; only
/// a call that is late or doubled can still meet the next.
class CallbackSignal::Call final : public StreamCallback {
 public:
  explicit Call(CallbackSignal& signal) : signal_(signal) {}
  void called(StreamStatus status) noexcept override {
    // A full mailbox is no loss: the lane has more tickets than tiles to read, and its watchdog asks the device itself.
    signal_.tickets_.push({number.load(std::memory_order_acquire), status});
    signal_.bell_.notify();
  }
  // Atomic, because a device that calls twice may do so while the next promise is being made.
  std::atomic<std::uint64_t> number{0};

 private:
  CallbackSignal& signal_;
};

CallbackSignal::CallbackSignal(Device& device, Mailbox<Ticket>& tickets, EventCount& bell, std::size_t depth)
    : tickets_(tickets), bell_(bell), after_(depth), side_(device.make_stream()) {
  calls_.reserve(depth);
  for (std::size_t i = 0; i < depth; ++i) calls_.push_back(std::make_unique<Call>(*this));
}

// The side stream dies first (it is the last member), and with it the last chance of a call.
CallbackSignal::~CallbackSignal() = default;

void CallbackSignal::put(std::uint64_t number, EventRef after) {
  after_[number % after_.size()] = after;
  youngest_ = number;
}

void CallbackSignal::arm(std::uint64_t retired) {
  // Measured by what is retired and not by what was called: a call that got lost must not keep others from being made.
  while (asked_.front() <= retired) {
    std::uint64_t const from = std::max(asked_.back(), retired);
    std::uint64_t const next = from + std::max<std::uint64_t>(1, (youngest_ - retired) / 8);
    if (next > youngest_) return;
    Call& call = *calls_[next % calls_.size()];
    call.number.store(next, std::memory_order_release);
    side_.wait(*after_[next % after_.size()]);
    side_.call(call);
    std::rotate(asked_.begin(), asked_.begin() + 1, asked_.end());
    asked_.back() = next;
  }
}

}  // namespace penstock
