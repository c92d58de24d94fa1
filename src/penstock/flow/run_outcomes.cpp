// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/run_outcomes.hpp"

#include <utility>

namespace penstock {

void RunOutcomes::note(Completion const& completion) {
  if (completion.ok()) return;
  std::scoped_lock const lock(mutex_);
  if (completion.outcome == Outcome::cancelled) {
    ++cancelled_;
    return;
  }
  ++failed_;
  if (first_.failure != nullptr) return;
  first_ = {completion.failure, completion.loan->sequence, completion.loan->tag};
}

void RunOutcomes::note_sink_failure(std::shared_ptr<Failure const> failure, std::uint64_t sequence, std::uint64_t tag) {
  Noted const noted{std::move(failure), sequence, tag};
  std::scoped_lock const lock(mutex_);
  ++sink_failures_;
  if (first_of_sink_.failure == nullptr) first_of_sink_ = noted;
  if (first_.failure == nullptr) first_ = noted;
}

void RunOutcomes::note_input_failure(std::shared_ptr<Failure const> failure) noexcept {
  if (failure == nullptr) return;
  std::scoped_lock const lock(mutex_);
  if (first_.failure == nullptr) first_ = {failure, std::nullopt, 0};
  of_input_ = std::move(failure);
}

std::optional<FirstFailure> RunOutcomes::Noted::told() const {
  if (failure == nullptr) return std::nullopt;
  return FirstFailure{*failure, sequence, tag};
}

void RunOutcomes::write_to(Report& report, std::vector<std::shared_ptr<Failure const>> const& of_lanes) {
  std::scoped_lock const lock(mutex_);
  report.tiles_failed = failed_;
  report.tiles_cancelled = cancelled_;
  report.sink_failures = sink_failures_;
  if (of_input_ != nullptr) report.run_failures.push_back(*of_input_);
  for (auto const& failure : of_lanes) {
    report.run_failures.push_back(*failure);
    if (first_.failure == nullptr) first_ = {failure, std::nullopt, 0};
  }
  report.first_failure = first_.told();
  report.first_sink_failure = first_of_sink_.told();
  report.sink = std::chrono::nanoseconds(sink_time_.load());
}

}  // namespace penstock
