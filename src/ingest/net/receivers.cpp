// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/receivers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Maximum time beyond its linger for which a tile is filled while sockets always have more.
constexpr std::chrono::milliseconds longest_gathering{5};

constexpr std::uint32_t once = EPOLLIN | EPOLLONESHOT;

std::uint32_t events_for(Receiver const& receiver) noexcept {
  // A datagram socket is always writable, which makes the next turn come at once.
  return receiver.holds() ? once | EPOLLOUT : once;
}

/// Limit for times that are added to a clock's time, which must stay in its range; a year is as good as for ever.
template <class Duration>
Duration at_most_a_year(Duration time) noexcept {
  return std::min<Duration>(time, std::chrono::hours(365 * 24));
}

}  // namespace

/// A receiver's turn, while it has a tile. At the end it waits for its next turn again, also after an exception.
class Receivers::Turn {
 public:
  Turn(Receivers& all, Receiver& receiver) noexcept : all_(all), receiver_(&receiver) {}
  Turn(Turn const&) = delete;
  Turn& operator=(Turn const&) = delete;
  ~Turn() {
    if (receiver_ == nullptr) return;
    // Computed before: once armed, it belongs to another thread.
    std::uint32_t const events = events_for(*receiver_);
    all_.at_work_.fetch_sub(1, std::memory_order_acq_rel);
    try {
      all_.set_.change(receiver_->descriptor(), events, receiver_);
    } catch (...) {  // It is registered already, so this needs no memory.
      all_.ending_.request();
    }
    all_.end_if_over();
  }
  /// Lets the receiver keep the tile.
  void keep() noexcept { receiver_ = nullptr; }

 private:
  Receivers& all_;
  Receiver* receiver_;
};

Receivers::Receivers(Pool const& pool, Ending& ending, Options options)
    : ending_(ending),
      options_{.linger = at_most_a_year(options.linger),
               .idle = options.idle ? std::optional(at_most_a_year(*options.idle)) : std::nullopt} {
  if (pool.shape().input_bytes == 0) {
    throw Error(ErrorKind::bad_argument,
                "Sockets are read into the tiles' input, and these have none: give them some.");
  }
  std::size_t const table = pool.shape().more_input_bytes[0];
  if (table != 0 && table < sizeof(Stretch)) {
    throw Error(ErrorKind::bad_argument,
                "The tiles' second input gets a Stretch of " + std::to_string(sizeof(Stretch)) +
                    " bytes for each stretch, and has only " + std::to_string(table) + ": give it more, or none.");
  }
  jobs_.add(pool);
  set_.add(ending.descriptor(), EPOLLIN, nullptr);
}

void Receivers::add(Receiver& receiver) {
  set_.add(receiver.descriptor(), events_for(receiver), &receiver);
  all_.push_back(&receiver);
}

/// Begins a turn; false once the input has ended for all.
bool Receivers::begin_turn() noexcept {
  unsigned now = at_work_.load(std::memory_order_relaxed);
  do {
    if (now == over) return false;
  } while (!at_work_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel));
  return true;
}

/// Ends all receivers, at the end of the last turn.
void Receivers::end_if_over() noexcept {
  unsigned none = 0;
  if (!ending_.requested() || !at_work_.compare_exchange_strong(none, over, std::memory_order_acq_rel)) return;
  for (Receiver* const one : all_) one->end();
}

/// Waits for a receiver that is ready; null once the input has ended.
Receiver* Receivers::wait_for_one() {
  // The wait counts from now, since nothing could come while all tiles were on loan.
  auto const began = WallClock::now();
  for (;;) {
    std::optional<std::chrono::milliseconds> left;
    bool silent = false;
    if (options_.idle) {
      // Read first: if it shows that a tile has left, the time at which its bytes came is visible, too.
      bool const none_at_work = at_work_.load(std::memory_order_acquire) == 0;
      auto const since = std::max(began, last_came_.load(std::memory_order_relaxed));
      left = std::chrono::ceil<std::chrono::milliseconds>(since + *options_.idle - WallClock::now());
      silent = left->count() <= 0 && none_at_work;
      left = std::max(*left, std::chrono::milliseconds(silent ? 0 : 1));
    }
    std::array<epoll_event, 1> room{};
    auto const ready = set_.wait(room, left);
    if (ready.empty() && silent) ending_.request();
    if (ending_.requested()) return nullptr;
    if (!ready.empty() && ready[0].data.ptr != nullptr) return static_cast<Receiver*>(ready[0].data.ptr);
  }
}

bool Receivers::next(Tile& tile) {
  Job& job = jobs_.of(tile);
  Contents& contents = job.contents;
  contents.input = tile.input();
  contents.stretches.clear();
  if (!tile.input(1).empty()) contents.most_stretches = tile.input(1).size() / sizeof(Stretch);
  while (Receiver* const receiver = ending_.requested() ? nullptr : wait_for_one()) {
    if (!begin_turn()) return false;
    Turn turn(*this, *receiver);
    contents.bytes = 0;
    contents.full = false;
    receiver->receive(contents);
    if (contents.stretches.empty()) continue;
    turn.keep();
    job.receiver = receiver;
    job.first = WallClock::now();
    last_came_.store(job.first, std::memory_order_relaxed);
    return true;
  }
  end_if_over();
  return false;
}

/// Returns false if the tile is to leave. Otherwise it may get more: at once, or after a nap if there was no more.
bool Receivers::may_go_on(Job const& job, Receiver& receiver, bool more) const {
  if (job.contents.full || ending_.requested()) return false;
  WallClock::duration const waited = WallClock::now() - job.first;
  if (more) return waited < std::max<WallClock::duration>(options_.linger, longest_gathering);
  if (waited >= options_.linger) return false;
  // A wake-up for each message costs more than the message, and a socket's buffer holds the data meanwhile
  // (bench/ingest/net/sockets_bench).
  ending_.wait(std::min<WallClock::duration>(options_.linger - waited, receiver.nap()));
  return true;
}

std::size_t Receivers::fill(Tile& tile) {
  Job& job = jobs_.of(tile);
  Contents& contents = job.contents;
  {
    Receiver& receiver = *std::exchange(job.receiver, nullptr);
    Turn const turn(*this, receiver);
    for (bool more = true; may_go_on(job, receiver, more);) more = receiver.receive(contents);
    last_came_.store(WallClock::now(), std::memory_order_relaxed);
  }
  std::size_t const table = contents.stretches.size() * sizeof(Stretch);
  if (!tile.input(1).empty()) {
    std::memcpy(tile.input(1).data(), contents.stretches.data(), table);
    tile.more_filled[0] = table;
  }
  return contents.bytes;
}

}  // namespace penstock
