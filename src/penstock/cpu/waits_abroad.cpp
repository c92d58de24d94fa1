// SPDX-License-Identifier: Apache-2.0
// What the scheduler does where a stream waits for an event of another device or of another process
// (docs/decisions/between-devices.md).
#include <utility>

#include "penstock/cpu/scheduler.hpp"
#include "penstock/cpu/shared_event.hpp"

namespace penstock::cpu {

void Scheduler::await(StreamState& stream, Scheduler& other, EventState const& event) {
  other.expect_healthy();
  auto onward = put_wait(stream);
  if (!other.promise(event, onward)) tell_onward(std::move(onward));
}

/// A wait that ends when what is returned is told.
std::unique_ptr<Onward> Scheduler::put_wait(StreamState& stream) {
  // First, so that nothing can fail once the wait is in the stream.
  auto onward = std::make_unique<Onward>();
  onward->visits = visits_;
  onward->scheduler = this;
  enqueue(stream, {.kind = Request::Kind::wait, .abroad = true}, onward.get());
  return onward;
}

void Scheduler::record(StreamState& stream, EventState& event, std::shared_ptr<SharedEvent> shared) {
  auto onward = std::make_unique<Onward>();
  if (is_pending_elsewhere(stream, event)) {
    throw Error(
        ErrorKind::bad_argument,
        "An event of several processes was recorded in another stream, and was not passed: record it in the same "
        "stream again, or wait for it first.");
  }
  enqueue(stream, {.kind = Request::Kind::record, .event = &event});
  onward->number = shared->record();
  onward->recorded = std::move(shared);
  if (!promise(event, onward)) tell_onward(std::move(onward));
}

bool Scheduler::is_pending_elsewhere(StreamState const& stream, EventState const& event) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  catch_up(lock);
  return event.pending != nullptr && event.pending->stream != &stream;
}

void Scheduler::await(StreamState& stream, SharedEvent& event) {
  std::uint64_t const record = event.recorded();
  auto onward = put_wait(stream);
  try {
    event.tell_when_passed(record, onward);
  } catch (...) {
    tell_onward(std::move(onward));
    throw;
  }
}

/// Takes it, to be told when the event's last record so far has passed. False if that is so by now, or no thread waits
/// for this device any more.
bool Scheduler::promise(EventState const& event, std::unique_ptr<Onward>& onward) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  catch_up(lock);
  if (event.pending == nullptr || abandoned()) return false;
  onward->next = std::move(event.pending->onward);
  event.pending->onward = std::move(onward);
  return true;
}

void Scheduler::arrive(Operation& wait, std::uint64_t number) noexcept {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  catch_up(lock);
  if (wait.number == number && wait.request.abroad) release(wait, lock);
  catch_up(lock);
}

void Scheduler::release(Operation& wait, SchedulerLock& lock) {
  wait.request.abroad = false;
  if (keeps_time()) keeper_->release(wait, Clock::now());
  if (--wait.unmet == 0) complete(wait, lock);
}

/// The device is lost, and waits for no other.
void Scheduler::release_all(SchedulerLock& lock) {
  for (auto const& operation : order_.operations()) {
    if (operation->linked && operation->request.abroad) release(*operation, lock);
  }
}

/// It is abandoned, and what waits for it on other devices goes on.
void Scheduler::break_promises(SchedulerLock& lock) noexcept {
  for (auto const& operation : order_.operations()) lock.tell(std::move(operation->onward));
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
