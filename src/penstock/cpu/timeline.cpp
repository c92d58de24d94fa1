// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/timeline.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

double nanoseconds(DeviceModel::Time time) {
  return std::chrono::duration<double, std::nano>(time).count();
}
/// GB/s are bytes in a nanosecond.
double time_of(double amount, double rate) {
  return rate > 0 ? amount / rate : 0;
}
/// Years; a model may say anything.
constexpr double longest = 1e17;

Timeline::Time later(Timeline::Time from, double nanoseconds) {
  return from + std::chrono::nanoseconds(std::llround(std::clamp(nanoseconds, 0.0, longest)));
}
bool takes_time(Operation const& operation) {
  Kind const kind = operation.request.kind;
  return is_copy(operation) || kind == Kind::kernel || kind == Kind::callback;
}
double time_left(Operation const& operation) {
  return operation.modelled.left / operation.modelled.rate;
}
Timeline::Time end_of(Operation const& operation, Timeline::Time now) {
  return later(now, time_left(operation));
}

}  // namespace

Timeline::CopyEngine& Timeline::engine_of(Operation const& operation) noexcept {
  return engines_[model_.copy_engines > 1 && operation.request.kind == Kind::download ? 1 : 0];
}

void Timeline::add(Operation& operation, Time now) noexcept {
  if (model_.copies_in_order_of_issue && is_copy(operation)) engine_of(operation).waiting.push(operation);
  if (operation.modelled.unmet == 0) begin(operation, std::max(now, now_));
}

void Timeline::advance(Time now) noexcept {
  now = std::max(now, now_);
  for (;;) {
    Time const next = std::min(next_event(), now);
    double const passed = static_cast<double>((next - now_).count());
    Operation* const ending = first_to_end();
    bool const ends = ending != nullptr && end_of(*ending, now_) <= next;
    for (Operation* each = active_; each != nullptr; each = each->modelled.next) {
      each->modelled.left = std::max(0.0, each->modelled.left - passed * each->modelled.rate);
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
    } else if (handed_over_.front() != nullptr && handed_over_.front()->modelled.ready <= next) {
      begin_work(*handed_over_.pop(), now_);
    } else if (calls_.front() != nullptr && calls_.front()->modelled.begin <= next) {
      Operation* const call = calls_.pop();
      call->modelled.due = true;
      due_.push(*call);
    } else if (next >= now) {
      return;
    }
  }
}

void Timeline::called(Operation& callback, Time now) noexcept {
  advance(now);
  end(callback, now_);
}

Timeline::Time Timeline::next_event() const noexcept {
  Time next = Time::max();
  if (Operation const* const ending = first_to_end()) next = end_of(*ending, now_);
  if (handed_over_.front() != nullptr) next = std::min(next, handed_over_.front()->modelled.ready);
  if (calls_.front() != nullptr) next = std::min(next, calls_.front()->modelled.begin);
  return next;
}

/// All that it depends on is over.
void Timeline::begin(Operation& operation, Time at) noexcept {
  Kind const behind = operation.modelled.behind;
  bool const takes_over =
      (is_copy(operation) && behind == Kind::kernel) ||
      (operation.request.kind == Kind::kernel && (behind == Kind::upload || behind == Kind::download));
  // One that is in line for its engine already stays there.
  bool const in_line = model_.copies_in_order_of_issue && is_copy(operation);
  if (!takes_over || in_line) return begin_work(operation, at);
  operation.modelled.ready = later(at, nanoseconds(model_.kernels.handover));
  handed_over_.push(operation);
}

void Timeline::begin_work(Operation& operation, Time at) noexcept {
  switch (operation.request.kind) {
    case Kind::upload:
    case Kind::download: {
      operation.modelled.may_begin = true;
      CopyEngine& engine = engine_of(operation);
      if (!model_.copies_in_order_of_issue) engine.waiting.push(operation);
      begin_copies(engine, at);
      break;
    }
    case Kind::kernel: {
      double const length = kernel_length(operation.request);
      unsigned const waves = waves_of(operation.request, length);
      operation.modelled.share = share_of(operation.request);
      operation.modelled.wave = length / waves;
      operation.modelled.waves = waves - 1;
      operation.modelled.left = nanoseconds(model_.kernels.start) + operation.modelled.wave;
      kernels_like(operation).push(operation);
      begin_kernels(at);
      break;
    }
    case Kind::callback:
      operation.modelled.begin =
          later(at, nanoseconds(model_.completions.noticed) + nanoseconds(model_.completions.called));
      calls_.push(operation);
      break;
    default:
      operation.modelled.begin = at;
      end(operation, at);
  }
}

void Timeline::begin_copies(CopyEngine& engine, Time at) noexcept {
  Operation* const next = engine.waiting.front();
  if (engine.busy || next == nullptr || !next->modelled.may_begin) return;
  engine.waiting.pop();
  engine.busy = true;
  next->modelled.left = nanoseconds(model_.link.copy) + copy_length(next->request);
  activate(*next, at);
}

Timeline::Line& Timeline::kernels_like(Operation const& kernel) noexcept {
  return kernels_[static_cast<std::size_t>(kernel.stream->priority - greatest_priority)];
}

/// As many of those that wait as find room, the more urgent first, and none before one that waits longer.
void Timeline::begin_kernels(Time at) noexcept {
  constexpr double rounding = 1e-9;
  for (Line& line : kernels_) {
    while (Operation* const kernel = line.front()) {
      if (kernel->modelled.share > free_share_ + rounding) return;
      line.pop();
      free_share_ -= kernel->modelled.share;
      activate(*kernel, at);
    }
  }
}

void Timeline::end_wave(Operation& kernel, Time at) noexcept {
  free_share_ = std::min(1.0, free_share_ + kernel.modelled.share);
  if (kernel.modelled.waves > 0) {
    --kernel.modelled.waves;
    kernel.modelled.left = kernel.modelled.wave;
    kernels_like(kernel).push_front(kernel);
  } else {
    end(kernel, at);
  }
  begin_kernels(at);
}

void Timeline::activate(Operation& operation, Time at) noexcept {
  operation.modelled.begin = std::min(operation.modelled.begin, at);  // A kernel is activated for each of its waves.
  operation.modelled.next = active_;
  active_ = &operation;
  share_link();
}

void Timeline::deactivate(Operation& operation) noexcept {
  Operation** place = &active_;
  while (*place != &operation) place = &(*place)->modelled.next;
  *place = operation.modelled.next;
  if (is_copy(operation)) engine_of(operation).busy = false;
  share_link();
}

void Timeline::end(Operation& first, Time at) noexcept {
  // A list and no recursion: a long chain of records ends in one go. Each is ended behind the one that it depends on.
  Line ending;
  ending.push(first);
  while (Operation* const operation = ending.pop()) {
    operation->modelled.over = true;
    operation->modelled.end = at;
    // What takes no time is between the work before it and behind it as if it were not there.
    if (takes_time(*operation)) operation->modelled.behind = operation->request.kind;
    over_.push(*operation);
    for (Operation* const dependent : operation->dependents) {
      dependent->modelled.behind = operation->modelled.behind;
      if (--dependent->modelled.unmet != 0) continue;
      if (takes_time(*dependent)) {
        begin(*dependent, at);
      } else {
        dependent->modelled.begin = at;
        ending.push(*dependent);
      }
    }
  }
}

/// Sets the rates of the copies that are active.
void Timeline::share_link() noexcept {
  bool const both = engines_[0].busy && engines_[1].busy && model_.link.both > 0;
  for (Operation* each = active_; each != nullptr; each = each->modelled.next) {
    if (!is_copy(*each)) continue;
    double const alone = each->request.kind == Kind::upload ? model_.link.up : model_.link.down;
    each->modelled.rate = both ? model_.link.both / alone : 1;
  }
}

double Timeline::copy_length(Request const& copy) const noexcept {
  double const rate =
      copy.pageable ? model_.link.pageable : (copy.kind == Kind::upload ? model_.link.up : model_.link.down);
  return time_of(static_cast<double>(copy.from.size()), rate);
}

double Timeline::kernel_length(Request const& kernel) const noexcept {
  KernelCost const& cost = kernel.cost;
  // Units: 1e12 a second are 1e3 a nanosecond.
  std::size_t const bytes = cost.reads[0].size() + cost.reads[1].size() + cost.writes.size();
  auto const linked = static_cast<double>(std::max(kernel.linked_reads, kernel.linked_writes));
  double const peer = model_.link.peer > 0 ? model_.link.peer : model_.link.both;
  return std::max({time_of(static_cast<double>(bytes), model_.kernels.memory), time_of(linked, model_.link.mapped),
                   time_of(cost.peer_bytes, peer),
                   time_of(cost.flops, model_.kernels.tera_flops * 1e3 * share_of(kernel)),
                   static_cast<double>(cost.time.count()) * std::max(1.0, std::ceil(cost.blocks / places(cost)))});
}

/// How often the multiprocessors are filled by it, one after the other. A kernel whose blocks are not known is cut into
/// waves of 10 us.
unsigned Timeline::waves_of(Request const& kernel, double length) const noexcept {
  constexpr double usual_wave = 10'000;
  double const waves =
      kernel.cost.blocks > 0 ? static_cast<double>(kernel.cost.blocks) / places(kernel.cost) : length / usual_wave;
  return static_cast<unsigned>(std::clamp(std::ceil(waves), 1.0, 1e6));
}

double Timeline::share_of(Request const& kernel) const noexcept {
  if (kernel.cost.blocks == 0) return 1;
  return std::min(1.0, static_cast<double>(kernel.cost.blocks) / places(kernel.cost));
}

/// For blocks like the kernel's.
double Timeline::places(KernelCost const& cost) const noexcept {
  unsigned const of_each = std::max(1U, model_.kernels.threads_per_unit / std::max(1U, cost.block_threads));
  return static_cast<double>(model_.kernels.units) * of_each;
}

Operation* Timeline::first_to_end() const noexcept {
  Operation* first = nullptr;
  for (Operation* each = active_; each != nullptr; each = each->modelled.next) {
    if (first == nullptr || time_left(*each) < time_left(*first)) first = each;
  }
  return first;
}

}  // namespace penstock::cpu
