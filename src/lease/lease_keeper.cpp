// SPDX-License-Identifier: Apache-2.0
#include "lease/lease_keeper.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "lease/fitting_settlement.hpp"
#include <pthread.h>

#include "engine/core/failure_text.hpp"
#include "engine/core/say.hpp"

namespace penstock {
namespace {

/// Time until a ledger that could not be written is tried again; it doubles each time.
constexpr std::chrono::milliseconds shortest_pause{50}, longest_pause{2000};
/// Longest time for which something settled waits for an exchange that is due for another reason.
constexpr std::chrono::milliseconds longest_unsaid{50};

}  // namespace

LeaseKeeper::LeaseKeeper(Ledger& ledger, LeaseSourceOptions const& options)
    : LeaseKeeper(ledger.join(options.owner), options) {}

LeaseKeeper::LeaseKeeper(std::unique_ptr<LeaseSupply> supply, LeaseSourceOptions const& options)
    : leases_(std::max<std::size_t>(1, options.leases)),
      poll_(options.poll),
      silence_(options.owner.silence),
      stop_(options.stop),
      owner_(std::move(supply)),
      heard_(std::chrono::steady_clock::now()) {
  try {
    thread_ = std::jthread([this] { work(); });
  } catch (std::system_error const& refused) {
    throw Error(ErrorKind::system, "There is no thread to take leases: " + system_problem(refused.code().value()) +
                                       ". " + remedy_for_threads());
  }
  pthread_setname_np(thread_.native_handle(), "ps-lease");
}

LeaseKeeper::~LeaseKeeper() {
  try {
    finish();
  } catch (std::exception const& failure) {
    say("%s", failure.what());
  }
}

std::optional<Lease> LeaseKeeper::next() {
  std::unique_lock lock(mutex_);
  if (!std::exchange(asked_, true)) changed_.notify_one();
  arrived_.wait(lock, stop_, [this] { return has_next(); });
  if (stop_.stop_requested() || stopped_) {
    stopped_ = true;
    return std::nullopt;
  }
  if (!waiting_.empty()) {
    passed_on_[waiting_.front().number] = waiting_.front().tries;
    Lease lease = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_one();
    return lease;
  }
  if (problem_ != nullptr) std::rethrow_exception(problem_);
  return std::nullopt;
}

bool LeaseKeeper::is_ready() const {
  std::lock_guard const lock(mutex_);
  return has_next() || stop_.stop_requested();
}

bool LeaseKeeper::has_next() const noexcept {
  return !waiting_.empty() || finished_ || stopped_ || problem_ != nullptr;
}

void LeaseKeeper::settle(Settlement settlement) {
  std::lock_guard const lock(mutex_);
  std::uint64_t const number = settlement.number;
  auto const tries = settlement.tries;
  fit(settlement);
  if (is_held(number, tries)) {
    if (settled_.empty()) unsaid_since_ = std::chrono::steady_clock::now();
    settled_.push_back(std::move(settlement));
    out_.erase(number);
    report_.holds(out_.size());
  }
  if (auto const passed = passed_on_.find(number); passed != passed_on_.end() && passed->second == tries) {
    passed_on_.erase(passed);
    if (auto const later = later_tries_.extract(number)) {
      waiting_.push_back(std::move(later.mapped()));
      arrived_.notify_all();
    }
  }
  changed_.notify_one();
}

bool LeaseKeeper::holds(Lease const& lease) const {
  std::lock_guard const lock(mutex_);
  return is_held(lease.number, lease.tries);
}

void LeaseKeeper::stop_taking() noexcept {
  std::lock_guard const lock(mutex_);
  stopped_ = true;
  arrived_.notify_all();
}

void LeaseKeeper::finish() {
  {
    std::lock_guard const lock(mutex_);
    stopped_ = ending_ = true;
    give_back_the_rest();
    changed_.notify_one();
    arrived_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  // What is left of it may not be said twice, by the destructor.
  owner_.reset();
  if (auto const problem = std::exchange(problem_, nullptr); problem != nullptr && !settled_.empty()) {
    settled_.clear();
    std::rethrow_exception(problem);
  }
}

LeaseCounts LeaseKeeper::counts() const {
  std::lock_guard const lock(mutex_);
  return counts_;
}

std::string LeaseKeeper::refusal() const {
  std::lock_guard const lock(mutex_);
  return refusal_;
}

bool LeaseKeeper::is_held(std::uint64_t number, std::uint32_t tries) const {
  auto const held = out_.find(number);
  return held != out_.end() && held->second == tries;
}

bool LeaseKeeper::wants_leases() const noexcept {
  return asked_ && !stopped_ && !finished_ && problem_ == nullptr &&
         waiting_.size() + later_tries_.size() <= leases_ / 2;
}

/// At the end it waits for the ledger only as long as a stop can end that.
bool LeaseKeeper::gives_up() const noexcept {
  return ending_ && (stop_.stop_requested() || !stop_.stop_possible());
}

bool LeaseKeeper::is_due(Time now) const noexcept {
  if (now < retry_at_ && !gives_up()) return false;
  if (ending_) return true;
  if (problem_ != nullptr) return false;  // `finish` tries once more.
  if (wants_leases() && now >= not_before_) return true;
  // What is settled while leases wait goes with the next exchange, which they bring about if they are not slow.
  if (!settled_.empty() && (settled_.size() >= leases_ || waiting_.empty() || now >= unsaid_since_ + longest_unsaid))
    return true;
  return silence_.count() != 0 && now - heard_ >= silence_ / 4;
}

std::optional<LeaseKeeper::Time> LeaseKeeper::next_time() const noexcept {
  std::optional<Time> when;
  if (problem_ != nullptr) return when;
  if (pause_.count() != 0) return retry_at_;
  if (wants_leases()) when = not_before_;
  if (!settled_.empty()) when = std::min(when.value_or(Time::max()), unsaid_since_ + longest_unsaid);
  if (silence_.count() != 0) when = std::min(when.value_or(Time::max()), heard_ + silence_ / 4);
  return when;
}

void LeaseKeeper::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!is_due(std::chrono::steady_clock::now())) {
      auto const when = next_time();
      if (!when) {
        changed_.wait(lock);
      } else if (ending_) {
        changed_.wait_until(lock, stop_, *when, [this] { return is_due(std::chrono::steady_clock::now()); });
      } else {
        changed_.wait_until(lock, *when);
      }
    }
    if (ending_ && settled_.empty()) return;
    bool const last = ending_;
    exchange(lock);
    if (last && (pause_.count() == 0 || problem_ != nullptr)) return;
  }
}

void LeaseKeeper::exchange(std::unique_lock<std::mutex>& lock) {
  std::vector<Settlement> settled = std::exchange(settled_, {});
  std::size_t const most = wants_leases() ? leases_ : 0;
  heard_ = std::chrono::steady_clock::now();
  report_.asks(true);
  lock.unlock();
  Exchange result;
  std::exception_ptr problem;
  bool for_now = false;
  try {
    result = owner_->exchange(settled, most);
  } catch (LedgerUnavailable const& failure) {
    problem = std::current_exception();
    for_now = true;
    if (pause_.count() == 0) say("%s It is tried again until it works.", failure.what());
  } catch (...) {
    problem = std::current_exception();
  }
  lock.lock();
  pause_ = for_now ? std::clamp(2 * pause_, shortest_pause, longest_pause) : std::chrono::milliseconds(0);
  retry_at_ = std::chrono::steady_clock::now() + pause_;
  problem_ = for_now && !gives_up() ? nullptr : problem;
  try {
    if (problem != nullptr) {
      // Nothing has changed, or it is refused a second time, so all of it is still to be said.
      settled_.insert(settled_.begin(), settled.begin(), settled.end());
    } else {
      keep(settled, result, most);
    }
  } catch (...) {
    problem_ = std::current_exception();  // Memory is short. What was not kept is out until the owner leaves.
  }
  report_.holds(out_.size());
  report_.asks(false);
  arrived_.notify_all();
}

void LeaseKeeper::keep(std::vector<Settlement> const& settled, Exchange& result, std::size_t wanted) {
  note(settled, result);
  if (wanted != 0 && result.taken.empty()) not_before_ = std::chrono::steady_clock::now() + poll_;
  finished_ = finished_ || result.finished;
  for (Lease& lease : result.taken) keep(std::move(lease));
  if (ending_) give_back_the_rest();  // `finish` came meanwhile, and knows nothing of these.
}

void LeaseKeeper::keep(Lease lease) {
  std::uint64_t const number = lease.number;
  out_[number] = lease.tries;
  // An earlier try that was not passed on, and was lost meanwhile, is void.
  std::erase_if(waiting_, [&](Lease const& waiting) { return waiting.number == number; });
  if (passed_on_.contains(number)) {
    later_tries_.insert_or_assign(number, std::move(lease));
  } else {
    waiting_.push_back(std::move(lease));
  }
}

void LeaseKeeper::give_back_the_rest() {
  settled_.reserve(settled_.size() + out_.size());
  for (auto const& [number, tries] : out_)
    settled_.push_back({.kind = Settlement::Kind::give_back, .number = number, .tries = tries});
  out_.clear();
  waiting_.clear();
  later_tries_.clear();
}

void LeaseKeeper::note(std::vector<Settlement> const& settled, Exchange& result) {
  std::vector<bool> refused(settled.size());
  for (RefusedSettlement& one : result.refused) {
    refused[one.index] = true;
    if (refusal_.empty()) refusal_ = std::move(one.reason);
  }
  counts_.taken += result.taken.size();
  counts_.refused += result.refused.size();
  for (std::size_t k = 0; k < settled.size(); ++k) {
    if (refused[k]) continue;
    switch (settled[k].kind) {
      case Settlement::Kind::acknowledge:
        ++counts_.acknowledged;
        report_.answered();
        break;
      case Settlement::Kind::give_back:
        ++counts_.given_back;
        break;
      case Settlement::Kind::fail:
      case Settlement::Kind::suspect:
      case Settlement::Kind::park:
        ++counts_.failed;
        break;
    }
  }
}

}  // namespace penstock
