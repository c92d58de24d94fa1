// SPDX-License-Identifier: Apache-2.0
#include "course/held_kernels.hpp"

#include <algorithm>

#include <unistd.h>

namespace penstock::support {
namespace {

std::uint64_t now() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

bool holds(std::vector<std::string> const& labels, std::string const& label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

}  // namespace

lab::WorkbenchOptions CpuHeldKernels::options() {
  lab::WorkbenchOptions options;
  options.launch = [state = state_](lab::KernelWish const& wish, Stamp* stamp, StreamRef stream) {
    std::string const label(wish.label);
    {
      std::lock_guard const lock(state->mutex);
      state->blocks_left[label] = wish.blocks;
    }
    stream.launch(wish.blocks, [state, label, stamp](std::uint32_t) { state->stay(label, *stamp); });
    std::lock_guard const lock(state->mutex);
    ++state->given;
    state->giver = gettid();
    state->changed.notify_all();
  };
  return options;
}

void CpuHeldKernels::await_given(std::size_t count) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->given >= count; });
}

pid_t CpuHeldKernels::giver() const {
  std::lock_guard const lock(state_->mutex);
  return state_->giver;
}

std::vector<std::string> CpuHeldKernels::started() const {
  std::lock_guard const lock(state_->mutex);
  return state_->started;
}

bool HeldKernels::has_started(std::string const& label) const {
  return holds(started(), label);
}

void CpuHeldKernels::await_started(std::size_t count) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->started.size() >= count; });
}

void CpuHeldKernels::await_started(std::string const& label) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return holds(state_->started, label); });
}

void CpuHeldKernels::end(std::string const& label) {
  std::unique_lock lock(state_->mutex);
  state_->may_end.insert(label);
  state_->changed.notify_all();
  state_->changed.wait(lock, [&] { return state_->blocks_left.at(label) == 0; });
}

void CpuHeldKernels::end_all() {
  std::lock_guard const lock(state_->mutex);
  state_->all_may_end = true;
  state_->changed.notify_all();
}

void CpuHeldKernels::State::stay(std::string const& label, Stamp& stamp) {
  std::unique_lock lock(mutex);
  stamp.start = std::min(stamp.start, now());
  if (!holds(started, label)) started.push_back(label);
  changed.notify_all();
  changed.wait(lock, [&] { return all_may_end || may_end.contains(label); });
  stamp.end = std::max(stamp.end, now());
  --blocks_left.at(label);
  changed.notify_all();
}

}  // namespace penstock::support
