// SPDX-License-Identifier: Apache-2.0
#include "lab/held_kernels.hpp"

namespace penstock::support {
namespace {

std::uint64_t now() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

}  // namespace

lab::WorkbenchOptions HeldKernels::options() {
  lab::WorkbenchOptions options;
  options.launch = [state = state_](lab::KernelWish const& wish, Stamp* stamp, StreamRef stream) {
    stream.launch(1, [state, label = std::string(wish.label), stamp](std::uint32_t) { state->stay(label, *stamp); });
    state->add(state->given, std::string(wish.label));
  };
  return options;
}

void HeldKernels::end_all() {
  std::lock_guard const lock(state_->mutex);
  state_->all_ended = true;
  state_->changed.notify_all();
}

void HeldKernels::State::add(std::set<std::string>& to, std::string const& label) {
  std::lock_guard const lock(mutex);
  to.insert(label);
  changed.notify_all();
}

bool HeldKernels::State::holds(std::set<std::string> const& in, std::string const& label) const {
  std::lock_guard const lock(mutex);
  return in.contains(label);
}

void HeldKernels::State::await(std::set<std::string> const& in, std::string const& label) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return in.contains(label); });
}

void HeldKernels::State::stay(std::string const& label, Stamp& stamp) {
  std::unique_lock lock(mutex);
  stamp.start = now();
  running.insert(label);
  changed.notify_all();
  changed.wait(lock, [&] { return all_ended || ended.contains(label); });
  stamp.end = now();
}

}  // namespace penstock::support
