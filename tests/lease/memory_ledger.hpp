// SPDX-License-Identifier: Apache-2.0
// A ledger in the memory of a test, as a second engine under the same contract.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "penstock/lease/ledger.hpp"

namespace penstock::support {

/// What a MemoryLedger and its owners share. It has the rules of LeaseOwner::exchange in plain C++.
///
/// Threads: any.
class LeaseBook {
 public:
  using Owner = std::uint64_t;
  static constexpr Owner none = 0;

  explicit LeaseBook(std::uint32_t most_tries) : most_tries_(most_tries) {}

  bool enqueue(std::span<LeaseWork const> work, bool last);
  Owner join(std::chrono::nanoseconds silence);
  void leave(Owner owner);
  /// The system ended it.
  void die(Owner owner);
  Exchange exchange(Owner owner, std::span<Settlement const> settlements, std::size_t most);
  void hear(Owner owner);
  LedgerProgress progress();
  std::vector<ParkedLease> parked(std::uint64_t after, std::size_t most);
  bool unpark(std::uint64_t number);
  std::vector<LeaseAnswer> answers(std::uint64_t after, std::size_t most);
  void let_pass(std::chrono::nanoseconds time);
  /// From now on the clock runs by itself, too.
  void let_run() { began_ = std::chrono::steady_clock::now(); }

 private:
  enum class State : std::uint8_t { ready, out, done, parked };
  struct Entry {
    Lease lease = {};
    State state = State::ready;
    Owner owner = none;
    std::chrono::nanoseconds enqueued{0}, since{0}, not_before{0};
    std::string text = {};
  };
  struct Owning {
    std::chrono::nanoseconds silence{0}, heard{0};
    bool alive = true;
  };

  std::string settle(Owner owner, Settlement const& settlement);
  void fail(Entry& entry, bool suspect, std::string reason);
  bool is_gone(Owning const& owner) const;
  void let_go_of_ended();
  std::vector<Lease> take(Owner owner, std::size_t most);
  Lease hand_out(Entry& entry, Owner owner);
  std::uint64_t count(State state) const;
  std::chrono::nanoseconds now() const {
    return now_ + (began_ ? std::chrono::steady_clock::now() - *began_ : std::chrono::nanoseconds(0));
  }

  std::uint32_t const most_tries_;
  std::mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;
  std::map<Owner, Owning> owners_;
  Owner last_owner_ = none;
  bool closed_ = false;
  std::chrono::nanoseconds now_{std::chrono::hours(1)};
  std::optional<std::chrono::steady_clock::time_point> began_;
};

class MemoryLedger final : public Ledger {
 public:
  explicit MemoryLedger(std::uint32_t most_tries) : book_(std::make_shared<LeaseBook>(most_tries)) {}

  bool enqueue(std::span<LeaseWork const> work, bool last = false) override { return book_->enqueue(work, last); }
  std::unique_ptr<LeaseOwner> join(OwnerOptions options = {}) override;
  LedgerProgress progress() override { return book_->progress(); }
  std::vector<ParkedLease> parked(std::uint64_t after = 0, std::size_t most = 1000) override {
    return book_->parked(after, most);
  }
  bool unpark(std::uint64_t number) override { return book_->unpark(number); }
  std::vector<LeaseAnswer> answers(std::uint64_t after = 0, std::size_t most = 1000) override {
    return book_->answers(after, most);
  }
  std::shared_ptr<LeaseBook> const& book() const noexcept { return book_; }

 private:
  std::shared_ptr<LeaseBook> const book_;
};

}  // namespace penstock::support
