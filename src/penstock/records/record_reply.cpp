// SPDX-License-Identifier: Apache-2.0
#include "penstock/records/record_reply.hpp"

#include <functional>

#include "penstock/core/error.hpp"
#include "penstock/records/record_parts.hpp"

namespace penstock {
namespace {

constexpr std::chrono::hours for_ever{24};

}  // namespace

EventCount& RecordReply::bell() const noexcept {
  auto& bells = records_.parts_->bells;
  return bells.at(std::hash<void const*>()(this) / alignof(RecordReply) / 8 % bells.size());
}

RecordReply::~RecordReply() {
  if (!ready()) wait();
}

void RecordReply::committed() {
  if (!ready()) {
    throw Error(ErrorKind::bad_argument,
                "A record was written with this reply and has no answer yet: wait for it, or use another reply.");
  }
  state_.store(State::asked, std::memory_order_relaxed);
}

Outcome RecordReply::wait(std::chrono::nanoseconds spin) {
  if (state_.load(std::memory_order_acquire) == State::unused) {
    throw Error(ErrorKind::bad_argument, "There is no answer to wait for: write a record with this reply first.");
  }
  while (!bell().await([this] { return ready(); }, spin, for_ever)) {
  }
  return outcome_;
}

void RecordReply::complete(RecordCompletion const& completion) {
  EventCount& rung = bell();
  outcome_ = completion.outcome;
  failure_.reset();
  try {
    output_.assign(completion.output.begin(), completion.output.end());
    if (completion.failure != nullptr) failure_ = *completion.failure;
  } catch (std::bad_alloc const&) {
    outcome_ = Outcome::failed;
    output_.clear();
    failure_ = Failure{"reply", "no memory for it", ErrorKind::out_of_memory};  // Short enough to need none.
  }
  // From here on its owner may use it again, or end its life.
  state_.store(State::answered, std::memory_order_release);
  rung.notify();
}

}  // namespace penstock
