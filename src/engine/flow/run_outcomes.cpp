// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/run_outcomes.hpp"

#include <utility>

namespace penstock {

void RunOutcomes::note(Completion const& completion, bool alone) {
  bool const cancelled = completion.outcome == Outcome::cancelled;
  auto& count = completion.ok() ? done_ : cancelled ? cancelled_ : failed_;
  add(count, std::uint64_t{1}, alone, std::memory_order_release);
  if (completion.ok() || cancelled) return;
  std::scoped_lock const lock(mutex_);
  if (first_.failure != nullptr) return;
  first_ = {completion.failure, completion.loan->sequence, completion.loan->tag};
}

void RunOutcomes::note_sink_failure(std::shared_ptr<Failure const> failure, std::uint64_t sequence, std::uint64_t tag) {
  Noted const noted{std::move(failure), sequence, tag};
  sink_failures_.fetch_add(1, std::memory_order_release);
  std::scoped_lock const lock(mutex_);
  if (first_of_sink_.failure == nullptr) first_of_sink_ = noted;
  if (first_.failure == nullptr) first_ = noted;
}

void RunOutcomes::note_input_failure(std::shared_ptr<Failure const> failure) noexcept {
  if (failure == nullptr) return;
  std::scoped_lock const lock(mutex_);
  if (first_.failure == nullptr) first_ = {.failure = failure};
  of_input_ = std::move(failure);
}

std::optional<FirstFailure> RunOutcomes::Noted::told() const {
  if (failure == nullptr) return std::nullopt;
  return FirstFailure{*failure, sequence, tag};
}

void RunOutcomes::write_to(Report& report, std::vector<std::shared_ptr<Failure const>> const& of_lanes) {
  std::scoped_lock const lock(mutex_);
  report.tiles_failed = failed_.load();
  report.tiles_cancelled = cancelled_.load();
  report.sink_failures = sink_failures_.load();
  if (of_input_ != nullptr) report.run_failures.push_back(*of_input_);
  for (auto const& failure : of_lanes) {
    report.run_failures.push_back(*failure);
    if (first_.failure == nullptr) first_ = {.failure = failure};
  }
  report.first_failure = first_.told();
  report.first_sink_failure = first_of_sink_.told();
  report.sink = std::chrono::nanoseconds(sink_time_.load());
}

void RunOutcomes::write_to(Snapshot& snapshot) const noexcept {
  snapshot.sink_failures = sink_failures_.load(std::memory_order_acquire);
  snapshot.done = done_.load(std::memory_order_acquire);
  snapshot.failed = failed_.load(std::memory_order_acquire);
  snapshot.cancelled = cancelled_.load(std::memory_order_acquire);
}

}  // namespace penstock
