// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/producers.hpp"

#include <utility>

#include "penstock/core/current_failure.hpp"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Producers::Producers(Pool& pool, Source& source, std::vector<CpuSet> const& places, Send send, std::stop_token stop,
                     Ended ended)
    : pool_(pool),
      source_(source),
      send_(std::move(send)),
      ended_(std::move(ended)),
      pass_on_(std::move(stop), [this] { enough_.request_stop(); }),
      going_(places.size()) {
  try {
    for (std::size_t k = 0; k < places.size(); ++k) {
      threads_.emplace_back("ps-fill-" + std::to_string(k), places[k], [this](std::stop_token const&) { produce(); });
    }
  } catch (...) {
    enough_.request_stop();
    throw;
  }
}

std::vector<std::string> Producers::remarks() const {
  std::vector<std::string> all;
  for (auto const& thread : threads_) {
    if (thread.binding_error()) all.push_back(*thread.binding_error());
  }
  return all;
}

Producers::~Producers() {
  enough_.request_stop();
  threads_.clear();
}

void Producers::produce() {
  auto const stop = enough_.get_token();
  while (!stop.stop_requested()) {
    auto const asked = Clock::now();
    auto loan = pool_.borrow(stop);
    auto const lent = Clock::now();
    borrow_wait_.fetch_add((lent - asked).count(), std::memory_order_relaxed);
    if (!loan || stop.stop_requested() || !claim(**loan)) break;
    std::shared_ptr<Failure const> failure;
    try {
      (*loan)->filled = source_.fill(**loan);
    } catch (...) {
      (*loan)->filled = 0;
      failure = current_failure("source", ErrorKind::system);
    }
    fill_.fetch_add((Clock::now() - lent).count(), std::memory_order_relaxed);
    send_(std::move(*loan), std::move(failure));
  }
  if (going_.fetch_sub(1, std::memory_order_acq_rel) == 1) ended_(failure_);
}

/// Gives the tile its place; false at the end of the input.
bool Producers::claim(Tile& tile) {
  std::scoped_lock const lock(claim_mutex_);
  if (input_ended_) return false;
  bool more = false;
  try {
    tile.sequence = next_sequence_;
    more = source_.next(tile);
  } catch (...) {
    failure_ = current_failure("source", ErrorKind::system);
  }
  if (more) {
    ++next_sequence_;
  } else {
    input_ended_ = true;
    enough_.request_stop();
  }
  return more;
}

}  // namespace penstock
