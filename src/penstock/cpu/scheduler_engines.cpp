// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <new>

#include "penstock/cpu/scheduler.hpp"

namespace penstock::cpu {
namespace {

bool all_claimed(Operation const& kernel) {
  // Relaxed here and at every claim: the mutex orders what the blocks wrote, the counter only hands out numbers.
  return kernel.next_block.load(std::memory_order_relaxed) >= kernel.request.blocks;
}

}  // namespace

Scheduler::Work Scheduler::take(Engine engine, Seat& seat) {
  Turn turn(mutex_, sleepers_, unused_);
  ReadyQueue& queue = ready_[index_of(engine)];
  for (;;) {
    while (queue.front() == nullptr && !stopping_) turn.await_call(engine, seat);
    Operation* const operation = queue.front();
    if (operation == nullptr) return {};
    std::uint64_t block = 0;
    if (operation->request.kind == Request::Kind::kernel) {
      block = operation->next_block.fetch_add(1, std::memory_order_relaxed);
      if (all_claimed(*operation)) unqueue(*operation);
      if (block >= operation->request.blocks) continue;
      ++operation->workers;
    } else {
      queue.remove(*operation);
    }
    if (!operation->started) {
      operation->started = true;
      operation->start = Clock::now();
      operation->stream->running = true;
      operation->stream->calling = operation->request.kind == Request::Kind::callback;
      ++running_;
      if (is_copy(*operation)) ++copying_;
    }
    operation->status = {.ok = !lost_, .sticky = lost_.has_value(), .code = lost_ ? lost_code_ : 0};
    return {operation, block};
  }
}

bool Scheduler::claim(Operation& kernel, std::uint64_t& block) const noexcept {
  // Relaxed: a stale answer only delays the more urgent kernel by a block.
  if (most_urgent_.load(std::memory_order_relaxed) < kernel.stream->priority) return false;
  block = kernel.next_block.fetch_add(1, std::memory_order_relaxed);
  return block < kernel.request.blocks;
}

void Scheduler::skip(Operation& kernel) noexcept {
  // Relaxed, as each claim. It may lower the number, but never below the number of blocks.
  kernel.next_block.store(kernel.request.blocks, std::memory_order_relaxed);
}

bool Scheduler::leave(Operation& kernel) {
  std::lock_guard const lock(mutex_);
  --kernel.workers;
  if (!all_claimed(kernel)) return false;
  if (kernel.queued) unqueue(kernel);
  return kernel.workers == 0;
}

void Scheduler::finish(Operation& operation) {
  Turn turn(mutex_, sleepers_, unused_);
  pass(operation, turn);
}

void Scheduler::stop() {
  Turn turn(mutex_, sleepers_, unused_);
  stopping_ = true;
  for (std::size_t i = 0; i < engine_count; ++i) turn.wake(static_cast<Engine>(i), UINT64_MAX);
}

void Scheduler::unqueue(Operation& kernel) noexcept {
  ready_[index_of(Engine::compute)].remove(kernel);
  note_urgency();
}

void Scheduler::note_urgency() noexcept {
  Operation const* const front = ready_[index_of(Engine::compute)].front();
  most_urgent_.store(front != nullptr ? front->stream->priority : INT_MAX, std::memory_order_relaxed);
}

void Scheduler::lose(char const* what, char const* words, int code) noexcept {
  Error why = lost_speechless_;
  try {
    std::string cause = what;
    if (words != nullptr) cause += std::string(" \"") + words + '"';
    why = Error(ErrorKind::device_lost, "The CPU device is lost: " + cause + ". End this run and make a new device.");
  } catch (std::bad_alloc const&) {  // Then it does not say why.
  }
  Turn turn(mutex_, sleepers_, unused_);
  lose(why, code, turn);
}

void Scheduler::abandon(Error const& why) {
  Turn turn(mutex_, sleepers_, unused_);
  lose(why, abandoned_fault, turn);
  abandoned_.store(true, std::memory_order_release);
  wake_hosts();
}

void Scheduler::wait_to_the_end() noexcept {
  Turn turn(mutex_, sleepers_, unused_);
  ++removals_;  // What is late must not hold up the end.
  deliver_late(turn);
  turn.wait(quiet_, [&] { return unfinished_ == 0; });
  --removals_;
}

void Scheduler::lose(Error const& why, int code, Turn& turn) {
  if (lost_) return;
  lost_ = why;
  lost_code_ = code;
  OperationQueue callbacks;
  OperationQueue discarded;
  for (Engine const engine : {Engine::upload, Engine::download, Engine::compute}) {
    ReadyQueue& queue = ready_[index_of(engine)];
    while (Operation* const operation = queue.front()) {
      queue.remove(*operation);
      if (operation->request.kind == Request::Kind::callback) {
        callbacks.push(*operation);
      } else if (operation->workers != 0) {
        // The last of its workers finishes it.
        skip(*operation);
      } else {
        discarded.push(*operation);
      }
    }
  }
  while (Operation* const operation = callbacks.pop()) make_ready(*operation, turn);
  while (Operation* const operation = discarded.pop()) pass(*operation, turn);
  note_urgency();
  // Hosts are woken when the operation at fault passes, which comes next.
}

void Scheduler::wake_hosts() noexcept {
  for (StreamState* const stream : streams_) stream->moved.notify_all();
  for (EventState* const event : events_) event->passed.notify_all();
  quiet_.notify_all();
}

std::size_t Scheduler::late() const {
  std::lock_guard const lock(mutex_);
  return late_count_;
}

void Scheduler::deliver_late() {
  Turn turn(mutex_, sleepers_, unused_);
  deliver_late(turn);
}

void Scheduler::deliver_late(Turn& turn) {
  while (Operation* const operation = late_.pop()) {
    // One that was dropped meanwhile stays so.
    if (operation->request.delivery == Delivery::late) operation->request.delivery = Delivery::once;
    make_ready(*operation, turn);
  }
  late_count_ = 0;
  ++deliveries_;
  delivered_.notify_all();
}

void Scheduler::await_late_delivery() {
  Turn turn(mutex_, sleepers_, unused_);
  ++late_count_;
  turn.wait(delivered_, [&, before = deliveries_] { return deliveries_ != before; });
}

}  // namespace penstock::cpu
