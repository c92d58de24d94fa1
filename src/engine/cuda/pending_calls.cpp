// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/pending_calls.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "engine/core/own_process.hpp"

namespace penstock::cuda {

class PendingCalls::Call {
 public:
  enum class State : std::uint8_t { made, owed, running, dropped };

  /// True for the first of the two, driver and stream.
  bool settle(State as) noexcept {
    auto expected = State::owed;
    // Acquire: the thread that runs it sees the callback; release: nothing of the driver's run moves before it.
    return state.compare_exchange_strong(expected, as, std::memory_order_acq_rel);
  }

  std::atomic<State> state{State::made};
  StreamCallback* callback = nullptr;
};

struct PendingCalls::Calls {
  OwnProcess const process{};
  std::mutex mutex;
  std::deque<Call> all;  ///< A deque, because the driver holds their addresses.
  std::size_t turn = 0;  ///< Place where a call was found last; the one after it has been owed the longest.

  /// A call that the driver has let go of, or a new one. Call this with the mutex held.
  Call& unused() {
    // Calls of one stream are made in order, so a few looks are enough; many may be owed. Where threads share the
    // stream, some are made anew before their turn.
    for (std::size_t looks = 0; looks < std::min<std::size_t>(all.size(), 4); ++looks) {
      turn = (turn + 1) % all.size();
      // Acquire: the driver has let go of it.
      if (all[turn].state.load(std::memory_order_acquire) == Call::State::made) return all[turn];
    }
    return all.emplace_back();
  }
};

PendingCalls::PendingCalls() : calls_(std::make_unique<Calls>()) {}

PendingCalls::~PendingCalls() {
  if (left_to_parent(calls_)) return;
  drop_all();
  bool const left_to_the_driver = std::any_of(calls_->all.begin(), calls_->all.end(), [](Call const& call) {
    return call.state.load(std::memory_order_relaxed) == Call::State::dropped;
  });
  if (left_to_the_driver) static_cast<void>(calls_.release());
}

void PendingCalls::drop_all() noexcept {
  std::lock_guard const lock(calls_->mutex);
  for (Call& call : calls_->all) {
    call.settle(Call::State::dropped);
    // A callback does two things and returns, so this is over at once. Acquire: what it did is done.
    while (call.state.load(std::memory_order_acquire) == Call::State::running) std::this_thread::yield();
  }
}

PendingCalls::Call& PendingCalls::owe(StreamCallback& callback) {
  std::lock_guard const lock(calls_->mutex);
  Call& call = calls_->unused();
  call.callback = &callback;
  call.state.store(Call::State::owed, std::memory_order_release);
  return call;
}

void PendingCalls::drop(Call& call) noexcept {
  call.settle(Call::State::dropped);
}

void PendingCalls::make(Call& call, StreamStatus status) noexcept {
  if (!call.settle(Call::State::running)) return;
  call.callback->called(status);
  // This is the last touch: from here on it may be reused, or be gone.
  call.state.store(Call::State::made, std::memory_order_release);
}

}  // namespace penstock::cuda
