// SPDX-License-Identifier: Apache-2.0
#include "models/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/shared_rates.hpp"

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

double nanoseconds(DeviceModel::Time time) {
  return std::chrono::duration<double, std::nano>(time).count();
}
/// Years; a model may say anything.
constexpr double longest = 1e17;

Timeline::Time later(Timeline::Time from, double nanoseconds) {
  return from + std::chrono::nanoseconds(std::llround(std::clamp(nanoseconds, 0.0, longest)));
}
Timeline::Time end_of(Operation const& operation, Timeline::Time now) {
  return later(now, time_left(operation));
}

}  // namespace

Timeline::CopyEngine& Timeline::engine_of(Operation const& operation) noexcept {
  if (model_.copy_engines < 2 || operation.request.kind == Kind::upload) return engines_[0];
  return engines_[operation.request.kind == Kind::download ? 1 : 2];
}

void Timeline::add(Operation& operation, Time now) noexcept {
  note_issue(operation);
  if (model_.copies_in_order_of_issue && is_copy(operation)) engine_of(operation).waiting.push(operation);
  if (modelled(operation).unmet == 0) begin(operation, std::max(now, now_));
}

/// Links kernels, on a device that tells the end of each with that of the kernel issued right behind it.
void Timeline::note_issue(Operation& operation) noexcept {
  if (!model_.kernels.signal_together) return;
  Operation* const before = std::exchange(last_issued_, &operation);
  if (before == nullptr || before->request.kind != Kind::kernel || operation.request.kind != Kind::kernel) return;
  // One that waits for the other would never begin.
  if (std::ranges::find(before->dependents, &operation) != before->dependents.end()) return;
  modelled(*before).signals_with = &operation;
  modelled(operation).signals_for = before;
}

void Timeline::advance(Time now) noexcept {
  now = std::max(now, now_);
  for (;;) {
    Time const next = std::min(next_event(), now);
    double const passed = static_cast<double>((next - now_).count());
    Operation* const ending = first_to_end();
    bool const ends = ending != nullptr && end_of(*ending, now_) <= next;
    for (Operation* each = active_; each != nullptr; each = modelled(*each).next) {
      modelled(*each).left = std::max(0.0, modelled(*each).left - passed * modelled(*each).rate);
    }
    now_ = next;
    if (ends) {
      deactivate(*ending);
      if (ending->request.kind == Kind::kernel) {
        end_wave(*ending, now_);
      } else {
        end(*ending, now_);
        begin_copies(engine_of(*ending), now_);
      }
    } else if (handed_over_.front() != nullptr && modelled(*handed_over_.front()).ready <= next) {
      begin_work(*handed_over_.pop(), now_);
    } else if (calls_.front() != nullptr && modelled(*calls_.front()).begin <= next) {
      Operation* const call = calls_.pop();
      modelled(*call).due = true;
      due_.push(*call);
    } else if (next >= now) {
      return;
    }
  }
}

void Timeline::release(Operation& operation, Time now) noexcept {
  advance(now);
  if (--modelled(operation).unmet == 0) begin(operation, now_);
}

void Timeline::called(Operation& callback, Time now) noexcept {
  advance(now);
  end(callback, now_);
}

Timeline::Time Timeline::next_event() const noexcept {
  Time next = Time::max();
  if (Operation const* const ending = first_to_end()) next = end_of(*ending, now_);
  if (handed_over_.front() != nullptr) next = std::min(next, modelled(*handed_over_.front()).ready);
  if (calls_.front() != nullptr) next = std::min(next, modelled(*calls_.front()).begin);
  return next;
}

/// Begins an operation: all that it depends on is over.
void Timeline::begin(Operation& operation, Time at) noexcept {
  Kind const behind = modelled(operation).behind;
  bool const takes_over = (is_copy(operation) && behind == Kind::kernel) ||
                          (operation.request.kind == Kind::kernel &&
                           (behind == Kind::upload || behind == Kind::download || behind == Kind::copy));
  // One that is in line for its engine already stays there.
  bool const in_line = model_.copies_in_order_of_issue && is_copy(operation);
  if (!takes_over || in_line) return begin_work(operation, at);
  modelled(operation).ready = later(at, nanoseconds(model_.kernels.handover));
  handed_over_.push(operation);
}

void Timeline::begin_work(Operation& operation, Time at) noexcept {
  switch (operation.request.kind) {
    case Kind::upload:
    case Kind::download:
    case Kind::copy: {
      modelled(operation).may_begin = true;
      CopyEngine& engine = engine_of(operation);
      if (!model_.copies_in_order_of_issue) engine.waiting.push(operation);
      begin_copies(engine, at);
      break;
    }
    case Kind::kernel: {
      double const length = cost_.kernel(operation.request);
      unsigned const waves = cost_.waves(operation.request, length);
      modelled(operation).share = cost_.share(operation.request);
      modelled(operation).wave = length / waves;
      modelled(operation).waves = waves - 1;
      modelled(operation).left = nanoseconds(model_.kernels.start) + modelled(operation).wave;
      if (length > 0) {  // GB/s are bytes in a nanosecond.
        modelled(operation).reads = static_cast<double>(operation.request.linked_reads) / length;
        modelled(operation).writes = static_cast<double>(operation.request.linked_writes) / length;
        modelled(operation).memory = cost_.bytes_of_memory(operation.request) / length;
      }
      kernels_like(operation).push(operation);
      begin_kernels(at);
      break;
    }
    case Kind::callback:
      modelled(operation).begin =
          later(at, nanoseconds(model_.completions.noticed) + nanoseconds(model_.completions.called));
      calls_.push(operation);
      break;
    default:
      modelled(operation).begin = at;
      end(operation, at);
  }
}

void Timeline::begin_copies(CopyEngine& engine, Time at) noexcept {
  Operation* const next = engine.waiting.front();
  if (engine.busy || next == nullptr || !modelled(*next).may_begin) return;
  engine.waiting.pop();
  engine.busy = true;
  modelled(*next).left = nanoseconds(model_.link.copy) + cost_.copy(next->request);
  modelled(*next).memory = cost_.memory_of_copy(next->request);
  activate(*next, at);
}

Timeline::Line& Timeline::kernels_like(Operation const& kernel) noexcept {
  return kernels_[static_cast<std::size_t>(kernel.stream->priority - greatest_priority)];
}

/// Begins as many of those that wait as find room, the more urgent first, and none before one that waits longer.
void Timeline::begin_kernels(Time at) noexcept {
  constexpr double rounding = 1e-9;
  for (Line& line : kernels_) {
    while (Operation* const kernel = line.front()) {
      if (modelled(*kernel).share > free_share_ + rounding || kernels_active_ >= model_.kernels.at_once) return;
      line.pop();
      ++kernels_active_;
      free_share_ -= modelled(*kernel).share;
      activate(*kernel, at);
    }
  }
}

void Timeline::end_wave(Operation& kernel, Time at) noexcept {
  free_share_ = std::min(1.0, free_share_ + modelled(kernel).share);
  --kernels_active_;
  if (modelled(kernel).waves > 0) {
    --modelled(kernel).waves;
    modelled(kernel).left = modelled(kernel).wave;
    kernels_like(kernel).push_front(kernel);
  } else {
    end_kernel(kernel, at);
  }
  begin_kernels(at);
}

void Timeline::end_kernel(Operation& kernel, Time at) noexcept {
  modelled(kernel).computed = true;
  if (modelled(kernel).signals_with != nullptr) return;
  for (Operation* ending = &kernel; ending != nullptr;) {
    Operation* const before = modelled(*ending).signals_for;
    end(*ending, at);
    if (before != nullptr) modelled(*before).signals_with = nullptr;
    ending = before != nullptr && modelled(*before).computed ? before : nullptr;
  }
}

void Timeline::activate(Operation& operation, Time at) noexcept {
  modelled(operation).begin = std::min(modelled(operation).begin, at);  // A kernel is activated for each of its waves.
  modelled(operation).next = active_;
  active_ = &operation;
  share_rates(active_, model_, cost_);
}

void Timeline::deactivate(Operation& operation) noexcept {
  Operation** place = &active_;
  for (; *place != &operation; place = &modelled(**place).next)
    if (*place == nullptr) return;  // It is in the list while it is active.
  *place = modelled(operation).next;
  if (is_copy(operation)) engine_of(operation).busy = false;
  share_rates(active_, model_, cost_);
}

void Timeline::end(Operation& first, Time at) noexcept {
  // A list replaces recursion: a long chain of records ends in one go. Each is ended behind the one that it depends on.
  Line ending;
  ending.push(first);
  while (Operation* const operation = ending.pop()) {
    if (operation == last_issued_) last_issued_ = nullptr;
    modelled(*operation).over = true;
    modelled(*operation).end = at;
    // An operation that takes no time counts as not there, between the work before it and behind it.
    if (takes_time(*operation)) modelled(*operation).behind = operation->request.kind;
    over_.push(*operation);
    for (Operation* const dependent : operation->dependents) {
      modelled(*dependent).behind = modelled(*operation).behind;
      if (--modelled(*dependent).unmet != 0) continue;
      if (takes_time(*dependent)) {
        begin(*dependent, at);
      } else {
        modelled(*dependent).begin = at;
        ending.push(*dependent);
      }
    }
  }
}

Operation* Timeline::first_to_end() const noexcept {
  Operation* first = nullptr;
  for (Operation* each = active_; each != nullptr; each = modelled(*each).next) {
    if (first == nullptr || time_left(*each) < time_left(*first)) first = each;
  }
  return first;
}

}  // namespace penstock::cpu
