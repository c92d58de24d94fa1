// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/connection_ledger.hpp"

namespace penstock {
namespace {

std::uint64_t& count_of(ConnectionCounts& counts, ConnectionEnd how) noexcept {
  switch (how) {
    case ConnectionEnd::closed:
      return counts.closed;
    case ConnectionEnd::broken:
      return counts.broken;
    case ConnectionEnd::silent:
      return counts.silent;
    case ConnectionEnd::damaged:
      break;
  }
  return counts.damaged;
}

}  // namespace

ConnectionLedger::ConnectionLedger(Ending& ending, ConnectionSourceOptions const& options, std::size_t most_kept)
    : ending_(ending),
      connections_(options.connections),
      most_(options.most_connections),
      most_kept_(most_kept),
      observer_(options.observer) {
  if (connections_ == 0U) ending_.request();
}

ConnectionLedger::Admission ConnectionLedger::admission() const {
  std::scoped_lock const lock(mutex_);
  if (connections_ && counts_.accepted >= *connections_) return Admission::no_more;
  return counts_.open < most_ ? Admission::yes : Admission::too_many;
}

std::uint64_t ConnectionLedger::open(std::string const& peer) {
  std::scoped_lock const telling(telling_);
  std::uint64_t number = 0;
  {
    std::scoped_lock const lock(mutex_);
    ++counts_.open;
    number = counts_.accepted++;
  }
  if (observer_ != nullptr) observer_->opened(number, peer);
  return number;
}

void ConnectionLedger::refuse() {
  std::scoped_lock const lock(mutex_);
  ++counts_.refused;
}

void ConnectionLedger::close(std::uint64_t connection, ConnectionEnd how, std::uint64_t bytes) {
  std::scoped_lock const telling(telling_);
  bool last = false;
  {
    std::scoped_lock const lock(mutex_);
    --counts_.open;
    ++count_of(counts_, how);
    last = connections_ && counts_.accepted >= *connections_ && counts_.open == 0;
  }
  if (observer_ != nullptr) observer_->ended(connection, how, bytes);
  if (last) ending_.request();
}

void ConnectionLedger::add_loss(RecordLoss const& loss) {
  std::scoped_lock const lock(mutex_);
  counts_.loss += loss;
}

ConnectionCounts ConnectionLedger::counts() const {
  std::scoped_lock const lock(mutex_);
  ConnectionCounts counts = counts_;
  counts.bytes = bytes_.load(std::memory_order_relaxed);
  return counts;
}

}  // namespace penstock
