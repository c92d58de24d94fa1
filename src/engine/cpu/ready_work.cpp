// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/ready_work.hpp"

#include <algorithm>

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

Engine engine_of(Operation const& operation) {
  switch (operation.request.kind) {
    case Kind::upload:
    case Kind::copy:
      return Engine::upload;
    case Kind::download:
      return Engine::download;
    case Kind::callback:
      return operation.request.delivery == Delivery::stray ? Engine::compute : Engine::callback;
    default:
      return Engine::compute;
  }
}

bool all_claimed(Operation const& kernel) {
  // Relaxed here and at every claim: the mutex orders what the blocks wrote, the counter only hands out numbers.
  return kernel.next_block.load(std::memory_order_relaxed) >= kernel.request.blocks;
}

}  // namespace

ReadyWork::Work ReadyWork::take(Engine engine, Seat& seat, SchedulerLock& lock) {
  ReadyQueue& queue = queues_[index_of(engine)];
  for (;;) {
    while (queue.front() == nullptr && !stopping_) lock.await_call(engine, seat);
    Operation* const operation = queue.front();
    if (operation == nullptr) return {};
    if (operation->request.kind != Kind::kernel) {
      queue.remove(*operation);
      return {operation, 0};
    }
    if (auto const work = claim_first(*operation); work.operation != nullptr) return work;
  }
}

/// Claims a block of a kernel in line; none, if others had claimed all its blocks: then it is in line no more.
ReadyWork::Work ReadyWork::claim_first(Operation& kernel) noexcept {
  std::uint64_t const block = kernel.next_block.fetch_add(1, std::memory_order_relaxed);
  if (all_claimed(kernel)) unqueue(kernel);
  if (block >= kernel.request.blocks) return {};
  ++kernel.workers;
  return {&kernel, block};
}

void ReadyWork::push(Operation& operation, SchedulerLock& lock) {
  Engine const engine = engine_of(operation);
  queues_[index_of(engine)].push(operation);
  bool const kernel = operation.request.kind == Kind::kernel;
  if (kernel) note_urgency();
  lock.wake(engine, kernel ? operation.request.blocks : 1);
}

ReadyWork::Work ReadyWork::push_and_claim(Operation& kernel, SchedulerLock& lock) noexcept {
  queues_[index_of(Engine::compute)].push(kernel);
  note_urgency();
  std::uint64_t const asleep = lock.asleep(Engine::compute);
  lock.wake(Engine::compute, std::min(kernel.request.blocks - 1, asleep - std::min(asleep, computing_)));
  return claim_first(kernel);
}

bool ReadyWork::claim(Operation& kernel, std::uint64_t& block) const noexcept {
  // Relaxed: a stale answer only delays the more urgent kernel by a block.
  if (most_urgent_.load(std::memory_order_relaxed) < kernel.stream->priority) return false;
  return claim_any(kernel, block);
}

bool ReadyWork::claim_any(Operation& kernel, std::uint64_t& block) noexcept {
  block = kernel.next_block.fetch_add(1, std::memory_order_relaxed);
  return block < kernel.request.blocks;
}

void ReadyWork::skip(Operation& kernel) noexcept {
  // Relaxed, as each claim. It may lower the number, but never below the number of blocks.
  kernel.next_block.store(kernel.request.blocks, std::memory_order_relaxed);
}

bool ReadyWork::leave(Operation& kernel) noexcept {
  --kernel.workers;
  if (!all_claimed(kernel)) return false;
  if (kernel.queued) unqueue(kernel);
  return kernel.workers == 0;
}

void ReadyWork::clear(OperationQueue& callbacks, OperationQueue& discarded) noexcept {
  for (Engine const engine : {Engine::upload, Engine::download, Engine::compute}) {
    ReadyQueue& queue = queues_[index_of(engine)];
    while (Operation* const operation = queue.front()) {
      queue.remove(*operation);
      if (operation->request.kind == Kind::callback) {
        callbacks.push(*operation);
      } else if (operation->workers != 0) {
        // The last of its workers finishes it.
        skip(*operation);
      } else {
        discarded.push(*operation);
      }
    }
  }
  note_urgency();
}

void ReadyWork::stop(SchedulerLock& lock) noexcept {
  stopping_ = true;
  for (std::size_t i = 0; i < engine_count; ++i) lock.wake(static_cast<Engine>(i), UINT64_MAX);
}

void ReadyWork::unqueue(Operation& kernel) noexcept {
  queues_[index_of(Engine::compute)].remove(kernel);
  note_urgency();
}

void ReadyWork::note_urgency() noexcept {
  Operation const* const front = queues_[index_of(Engine::compute)].front();
  most_urgent_.store(front != nullptr ? front->stream->priority : INT_MAX, std::memory_order_relaxed);
}

}  // namespace penstock::cpu
