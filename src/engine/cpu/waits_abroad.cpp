// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/waits_abroad.hpp"

#include <utility>

namespace penstock::cpu {

void await_abroad(Scheduler& scheduler, StreamState& stream, Scheduler& other, EventState const& event) {
  other.expect_healthy();
  auto onward = scheduler.put_wait(stream);
  if (!other.promise(event, onward)) tell_onward(std::move(onward));
}

void record_shared(Scheduler& scheduler, StreamState& stream, EventState& event, std::shared_ptr<SharedEvent> shared) {
  auto onward = std::make_unique<Onward>();
  if (scheduler.is_pending_elsewhere(stream, event)) {
    throw Error(
        ErrorKind::bad_argument,
        "An event of several processes was recorded in another stream, and was not passed: record it in the same "
        "stream again, or wait for it first.");
  }
  scheduler.enqueue(stream, {.kind = Request::Kind::record, .event = &event});
  onward->number = shared->record();
  onward->recorded = std::move(shared);
  if (!scheduler.promise(event, onward)) tell_onward(std::move(onward));
}

void await_shared(Scheduler& scheduler, StreamState& stream, SharedEvent& event) {
  std::uint64_t const record = event.recorded();
  auto onward = scheduler.put_wait(stream);
  try {
    event.tell_when_passed(record, onward);
  } catch (...) {
    tell_onward(std::move(onward));
    throw;
  }
}

void tell_onward(std::unique_ptr<Onward> all) noexcept {
  // A list and no recursion: a chain of waits may go back and forth between devices.
  struct Telling {
    std::unique_ptr<Onward> first;
    bool under_way = false;
  };
  static thread_local Telling mine;
  std::unique_ptr<Onward>* end = &mine.first;
  while (*end != nullptr) end = &(*end)->next;
  *end = std::move(all);
  if (std::exchange(mine.under_way, true)) return;
  while (std::unique_ptr<Onward> const one = std::move(mine.first)) {
    mine.first = std::move(one->next);
    if (one->recorded != nullptr) {
      one->recorded->pass(one->number);
      continue;
    }
    Rundown::Pass const pass(*one->visits);
    if (pass) one->scheduler->arrive(*one->wait, one->number);
  }
  mine.under_way = false;
}

}  // namespace penstock::cpu
