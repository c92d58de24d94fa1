// SPDX-License-Identifier: Apache-2.0
#include "lease/memory_ledger.hpp"

#include <algorithm>
#include <utility>

#include "lease/ledger_world.hpp"

#include "penstock/error.hpp"

namespace penstock::support {
namespace {

class MemoryOwner final : public LeaseOwner {
 public:
  MemoryOwner(std::shared_ptr<LeaseBook> book, OwnerOptions options)
      : book_(std::move(book)), id_(book_->join(options.silence)) {}
  MemoryOwner(MemoryOwner const&) = delete;
  MemoryOwner& operator=(MemoryOwner const&) = delete;
  ~MemoryOwner() override { book_->leave(id_); }
  Exchange exchange(std::span<Settlement const> settlements, std::size_t most) override {
    return book_->exchange(id_, settlements, most);
  }
  void keep_alive() override { book_->hear(id_); }

 private:
  std::shared_ptr<LeaseBook> const book_;
  LeaseBook::Owner const id_;
};

class DoomedInMemory final : public DoomedOwner {
 public:
  explicit DoomedInMemory(std::shared_ptr<LeaseBook> book) : book_(std::move(book)), id_(book_->join({})) {}
  std::vector<std::uint64_t> take(std::size_t most) override {
    return numbers_of(book_->exchange(id_, {}, most).taken);
  }
  void die() override { book_->die(id_); }

 private:
  std::shared_ptr<LeaseBook> const book_;
  LeaseBook::Owner const id_;
};

class MemoryWorld final : public LedgerWorld {
 public:
  Ledger& ledger() override { return ledger_; }
  std::unique_ptr<DoomedOwner> doomed_owner() override { return std::make_unique<DoomedInMemory>(ledger_.book()); }
  void let_run() { ledger_.book()->let_run(); }
  void let_pass(std::chrono::milliseconds time) override { ledger_.book()->let_pass(time); }

 private:
  MemoryLedger ledger_{most_tries};
};

}  // namespace

std::unique_ptr<LedgerWorld> make_memory_world() {
  return std::make_unique<MemoryWorld>();
}

std::unique_ptr<LedgerWorld> make_running_memory_world() {
  auto world = std::make_unique<MemoryWorld>();
  world->let_run();
  return world;
}

std::unique_ptr<LeaseOwner> MemoryLedger::join(OwnerOptions options) {
  return std::make_unique<MemoryOwner>(book_, options);
}

bool LeaseBook::enqueue(std::span<LeaseWork const> work, bool last) {
  std::lock_guard const lock(mutex_);
  if (closed_) return false;
  for (LeaseWork const& one : work) {
    if (one.path.size() + one.checksum.size() + one.payload.size() > LeaseWork::most_bytes)
      throw Error(ErrorKind::bad_argument, "Too large.");
  }
  for (LeaseWork const& one : work) {
    std::uint64_t const number = entries_.size() + 1;
    entries_[number] = {.lease = {.number = number, .work = one}, .enqueued = now()};
  }
  closed_ = last;
  return true;
}

LeaseBook::Owner LeaseBook::join(std::chrono::nanoseconds silence) {
  std::lock_guard const lock(mutex_);
  owners_[++last_owner_] = {.silence = silence, .heard = now()};
  return last_owner_;
}

void LeaseBook::leave(Owner owner) {
  std::lock_guard const lock(mutex_);
  for (auto& [number, entry] : entries_) {
    if (entry.owner != owner) continue;
    if (entry.state == State::out) --entry.lease.charged;
    if (entry.state == State::out) entry.state = State::ready;
    if (entry.state == State::ready) entry.owner = none;
  }
  owners_.erase(owner);
}

void LeaseBook::die(Owner owner) {
  std::lock_guard const lock(mutex_);
  owners_.at(owner).alive = false;
}

void LeaseBook::hear(Owner owner) {
  std::lock_guard const lock(mutex_);
  owners_[owner].heard = now();
}

void LeaseBook::let_pass(std::chrono::nanoseconds time) {
  std::lock_guard const lock(mutex_);
  now_ += time;
}

Exchange LeaseBook::exchange(Owner owner, std::span<Settlement const> settlements, std::size_t most) {
  std::lock_guard const lock(mutex_);
  owners_[owner].heard = now();
  Exchange result;
  for (std::size_t k = 0; k < settlements.size(); ++k) {
    std::string reason = settle(owner, settlements[k]);
    if (!reason.empty()) result.refused.push_back({k, std::move(reason)});
  }
  let_go_of_ended();
  result.taken = take(owner, most);
  result.finished = result.taken.empty() && closed_ && count(State::ready) + count(State::out) == 0;
  return result;
}

std::string LeaseBook::settle(Owner owner, Settlement const& settlement) {
  auto const found = entries_.find(settlement.number);
  if (found == entries_.end()) return "There is no such lease.";
  Entry& entry = found->second;
  if (settlement.text.size() > Settlement::most_bytes) throw Error(ErrorKind::bad_argument, "Too large.");
  if (entry.state != State::out || entry.owner != owner || entry.lease.tries != settlement.tries)
    return "This try is over.";
  switch (settlement.kind) {
    case Settlement::Kind::acknowledge:
      entry.state = State::done;
      entry.text = settlement.text;
      break;
    case Settlement::Kind::give_back:
      entry.state = State::ready;
      --entry.lease.charged;
      break;
    case Settlement::Kind::fail:
      fail(entry, false, settlement.text);
      entry.not_before = now() + std::min<std::chrono::nanoseconds>(
                                     std::chrono::milliseconds(25) * (1U << std::min(10U, entry.lease.charged)),
                                     std::chrono::seconds(5));
      break;
    case Settlement::Kind::suspect:
      fail(entry, true, settlement.text);
      entry.not_before = {};
      break;
    case Settlement::Kind::park:
      entry.state = State::parked;
      entry.text = settlement.text;
      break;
  }
  entry.owner = none;
  return {};
}

void LeaseBook::fail(Entry& entry, bool suspect, std::string reason) {
  bool const again = entry.lease.charged < most_tries_;
  entry.state = again ? State::ready : State::parked;
  entry.lease.suspect = again && (suspect || entry.lease.suspect);
  entry.text = std::move(reason);
  entry.owner = none;
}

bool LeaseBook::is_gone(Owning const& owner) const {
  return !owner.alive || (owner.silence.count() != 0 && now() - owner.heard > owner.silence);
}

void LeaseBook::let_go_of_ended() {
  std::erase_if(owners_, [&](auto const& one) {
    auto const& [id, owning] = one;
    if (!is_gone(owning)) return false;
    for (auto& [number, entry] : entries_) {
      if (entry.owner != id) continue;
      if (entry.state == State::out) fail(entry, true, owning.alive ? "It was silent." : "Its owner ended.");
      entry.owner = none;
    }
    return true;
  });
}

std::vector<Lease> LeaseBook::take(Owner owner, std::size_t most) {
  bool const has_some = std::ranges::any_of(
      entries_, [&](auto const& one) { return one.second.state == State::out && one.second.owner == owner; });
  bool const has_suspect = std::ranges::any_of(entries_, [&](auto const& one) {
    return one.second.state == State::out && one.second.owner == owner && one.second.lease.suspect;
  });
  std::vector<Lease> taken;
  if (most == 0 || has_suspect) return taken;
  Entry* own = nullptr;
  Entry* unpromised = nullptr;
  Entry* any = nullptr;
  for (auto& [number, entry] : entries_) {
    if (entry.state != State::ready || !entry.lease.suspect || entry.not_before > now()) continue;
    if (any == nullptr) any = &entry;
    if (own == nullptr && entry.owner == owner) own = &entry;
    if (unpromised == nullptr && entry.owner == none) unpromised = &entry;
  }
  Entry* const suspect = own != nullptr ? own : unpromised != nullptr ? unpromised : has_some ? nullptr : any;
  if (suspect != nullptr) {
    if (!has_some) return {hand_out(*suspect, owner)};
    suspect->owner = owner;
    return taken;
  }
  for (auto& [number, entry] : entries_) {
    if (taken.size() == most) break;
    if (entry.state == State::ready && !entry.lease.suspect && entry.not_before <= now())
      taken.push_back(hand_out(entry, owner));
  }
  return taken;
}

Lease LeaseBook::hand_out(Entry& entry, Owner owner) {
  entry.state = State::out;
  entry.owner = owner;
  entry.since = now();
  ++entry.lease.tries;
  ++entry.lease.charged;
  return entry.lease;
}

std::uint64_t LeaseBook::count(State state) const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(entries_, [&](auto const& one) { return one.second.state == state; }));
}

LedgerProgress LeaseBook::progress() {
  using std::chrono::duration_cast, std::chrono::milliseconds;
  std::lock_guard const lock(mutex_);
  LedgerProgress progress{.leases = entries_.size(),
                          .ready = count(State::ready),
                          .out = count(State::out),
                          .done = count(State::done),
                          .parked = count(State::parked),
                          .owners = owners_.size(),
                          .closed = closed_,
                          .at = now()};
  for (auto const& [id, owning] : owners_) {
    if (!is_gone(owning)) continue;
    --progress.owners;
    auto const has_it = [gone = id](auto const& one) {
      return one.second.state == State::out && one.second.owner == gone;
    };
    progress.lost += static_cast<std::uint64_t>(std::ranges::count_if(entries_, has_it));
  }
  for (auto const& [number, entry] : entries_) {
    if (entry.state == State::ready && entry.lease.suspect) ++progress.suspects;
    if (entry.lease.tries > 1) progress.retries += entry.lease.tries - 1;
    if (entry.state == State::ready && !progress.oldest_ready)
      progress.oldest_ready = duration_cast<milliseconds>(now() - entry.enqueued);
    if (entry.state == State::out)
      progress.oldest_out =
          std::max(progress.oldest_out.value_or(milliseconds(0)), duration_cast<milliseconds>(now() - entry.since));
  }
  return progress;
}

std::vector<ParkedLease> LeaseBook::parked(std::uint64_t after, std::size_t most) {
  std::lock_guard const lock(mutex_);
  std::vector<ParkedLease> parked;
  for (auto const& [number, entry] : entries_) {
    if (number > after && entry.state == State::parked && parked.size() < most)
      parked.push_back({number, entry.lease.tries, entry.text, entry.lease.work});
  }
  return parked;
}

bool LeaseBook::unpark(std::uint64_t number) {
  std::lock_guard const lock(mutex_);
  auto const found = entries_.find(number);
  if (found == entries_.end() || found->second.state != State::parked) return false;
  found->second.state = State::ready;
  found->second.lease.charged = 0;
  found->second.not_before = {};
  return true;
}

std::vector<LeaseAnswer> LeaseBook::answers(std::uint64_t after, std::size_t most) {
  std::lock_guard const lock(mutex_);
  std::vector<LeaseAnswer> answers;
  for (auto const& [number, entry] : entries_) {
    if (number > after && entry.state == State::done && answers.size() < most) answers.push_back({number, entry.text});
  }
  return answers;
}

}  // namespace penstock::support
