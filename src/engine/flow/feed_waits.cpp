// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/feed_waits.hpp"

#include <algorithm>
#include <string>

#include "engine/lane/patience.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

Error all_wait_for_each_other(std::chrono::nanoseconds patience) {
  auto const milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  return {
      ErrorKind::bad_argument,
      "Every tile is lent to a thread that waits for another one, for " + std::to_string(milliseconds) +
          " ms now, so none comes home: submit or give back a tile before you borrow the next, or have more tiles."};
}

}  // namespace

/// A thread among those that wait.
class FeedWaits::Waiting {
 public:
  explicit Waiting(FeedWaits& waits) : waits_(waits) {
    std::scoped_lock const lock(waits_.mutex_);
    waits_.waiting_.push_back(this_thread());
    all_wait_ = waits_.all_wait();  // NOLINT(cppcoreguidelines-prefer-member-initializer): it takes the lock.
  }
  Waiting(Waiting const&) = delete;
  Waiting& operator=(Waiting const&) = delete;
  ~Waiting() {
    std::scoped_lock const lock(waits_.mutex_);
    auto& all = waits_.waiting_;
    *std::find(all.begin(), all.end(), this_thread()) = all.back();
    all.pop_back();
  }
  /// True if all waited when this thread came.
  bool all_wait() const noexcept { return all_wait_; }

 private:
  FeedWaits& waits_;
  bool all_wait_ = false;
};

std::optional<Loan> FeedWaits::borrow(std::stop_token const& stop, std::size_t part, UnderWay const& under_way) {
  auto const since = Clock::now();
  auto loan = wait(stop, part, under_way);
  waited_.fetch_add((Clock::now() - since).count(), std::memory_order_relaxed);
  return loan;
}

std::optional<Loan> FeedWaits::wait(std::stop_token const& stop, std::size_t part, UnderWay const& under_way) {
  std::optional<Loan> loan;
  if (loans_move_.load(std::memory_order_relaxed)) {
    loan = borrow_or_say(stop, part, under_way);
  } else {
    Waiting const waiting(*this);
    // The last to come sees it: what the others hold was noted before they came.
    loan = waiting.all_wait() ? borrow_while_all_wait(stop, part) : borrow_or_say(stop, part, under_way);
  }
  // The thread no longer waits: with this tile it may submit.
  return noted(std::move(loan));
}

std::optional<Loan> FeedWaits::borrow_or_say(std::stop_token const& stop, std::size_t part, UnderWay const& under_way) {
  return kept_.wait(stop, part, [&](std::size_t) { return under_way && !under_way() && none_is_lent(); });
}

std::optional<Loan> FeedWaits::borrow_while_all_wait(std::stop_token const& stop, std::size_t part) {
  std::chrono::nanoseconds const between_looks = patience_ / 8;
  Patience patience(patience_, between_looks, Clock::now());
  for (;;) {
    auto loan = pool_.borrow(stop, part, between_looks);
    if (loan || stop.stop_requested()) return loan;
    {
      std::scoped_lock const lock(mutex_);
      if (loans_move_.load(std::memory_order_relaxed) || !all_wait()) break;
    }
    if (patience.runs_out(Clock::now())) throw all_wait_for_each_other(patience_);
  }
  return pool_.borrow(stop, part);
}

/// True if no tile is lent to a feeding thread that has not submitted it.
bool FeedWaits::none_is_lent() const {
  for (std::size_t index = 0; index < pool_.size(); ++index) {
    if (pool_.tile(index).mark() != 0) return false;
  }
  return true;
}

/// True if each tile that can come home is lent to one of those that wait. The caller holds mutex_.
bool FeedWaits::all_wait() {
  std::size_t const tiles = pool_.size();
  std::size_t others = 0;
  for (std::size_t k = 0; k < tiles; ++k) {
    std::size_t const index = (look_first_ + k) % tiles;
    std::uint32_t const borrower = pool_.tile(index).mark();
    if (borrower != 0 && std::find(waiting_.begin(), waiting_.end(), borrower) != waiting_.end()) continue;
    if (++others <= pool_.stranded()) continue;
    look_first_ = index;
    return false;
  }
  return true;
}

}  // namespace penstock
