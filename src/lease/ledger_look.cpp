// SPDX-License-Identifier: Apache-2.0
#include "lease/ledger_look.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include <pthread.h>

#include "engine/core/failure_text.hpp"

namespace penstock {
namespace {

constexpr std::chrono::milliseconds between_looks{1000}, shortest_for_rate{500};

}  // namespace

LedgerLook::LedgerLook(Ledger& ledger, std::function<void()> looked) : ledger_(ledger), looked_(std::move(looked)) {
  try {
    thread_ = std::jthread([this](std::stop_token const& stop) { work(stop); });
  } catch (std::system_error const& refused) {
    throw Error(ErrorKind::system, "There is no thread to look at the ledger: " +
                                       system_problem(refused.code().value()) + ". " + remedy_for_threads());
  }
  pthread_setname_np(thread_.native_handle(), "ps-ledger");
}

LedgerLook::~LedgerLook() = default;

std::uint64_t LedgerLook::ask() {
  std::lock_guard const lock(mutex_);
  ++asked_;
  asked_for_.notify_one();
  return asked_;
}

LedgerLook::Seen LedgerLook::seen() const {
  std::lock_guard const lock(mutex_);
  return seen_;
}

bool LedgerLook::is_finished() const {
  std::lock_guard const lock(mutex_);
  return seen_.progress && seen_.progress->finished();
}

void LedgerLook::work(std::stop_token const& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested() && seen_.problem == nullptr) {
    bool const ended = asked_ != seen_.asked;
    std::uint64_t const asked = asked_;
    lock.unlock();
    look(ended, asked);
    looked_();
    lock.lock();
    asked_for_.wait_for(lock, stop, between_looks, [&] { return asked_ != asked; });
  }
}

void LedgerLook::look(bool ended, std::uint64_t asked) {
  std::optional<LedgerProgress> now;
  std::exception_ptr problem;
  try {
    // Each exchange of any owner makes ready what is out to owners that are gone.
    if (ended) ledger_.join()->exchange({}, 0);
    now = ledger_.progress();
  } catch (LedgerUnavailable const&) {
    // The workers wait for it, too, and say so. The next look shows more.
  } catch (...) {
    problem = std::current_exception();
  }
  std::lock_guard const lock(mutex_);
  seen_.problem = problem;
  if (!now) return;
  seen_.asked = asked;
  // Looks after ends may follow each other closely, and a rate needs some time.
  if (!counted_from_) {
    counted_from_ = now;
  } else if (now->at - counted_from_->at >= shortest_for_rate) {
    seen_.leases_per_second = penstock::leases_per_second(*counted_from_, *now);
    counted_from_ = now;
  }
  seen_.progress = now;
}

}  // namespace penstock
