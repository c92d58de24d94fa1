// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/engines.hpp"

#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include <pthread.h>

#include "engine/core/failure_text.hpp"
#include "engine/core/host_time.hpp"
#include "engine/core/works_for.hpp"

namespace penstock::cpu {

using Kind = Request::Kind;

Engines::Engines(Scheduler& scheduler, void const* owner, unsigned compute_threads, unsigned callback_threads,
                 Observer observer)
    : scheduler_(scheduler), owner_(owner), observer_(std::move(observer)) {
  threads_.reserve(std::size_t{compute_threads} + callback_threads + 3);
  try {
    start("ps-upload", Engine::upload);
    start("ps-download", Engine::download);
    for (unsigned i = 0; i < compute_threads; ++i) start("ps-compute-" + std::to_string(i), Engine::compute);
    for (unsigned i = 0; i < callback_threads; ++i) start("ps-callback-" + std::to_string(i), Engine::callback);
    if (scheduler_.keeper() != nullptr) {
      auto& thread = threads_.emplace_back([this] { scheduler_.keep_time(); });
      pthread_setname_np(thread.native_handle(), "ps-model");
    }
  } catch (std::system_error const& error) {
    auto const had = threads_.size();
    join();
    throw Error(ErrorKind::system, "The CPU device got only " + std::to_string(had) + " threads (" + error.what() +
                                       "): " + remedy_for_threads());
  } catch (...) {
    join();
    throw;
  }
}

Engines::~Engines() {
  join();
}

void Engines::start(std::string const& name, Engine engine) {
  Seat& seat = seats_.emplace_back();
  auto& thread = threads_.emplace_back([this, engine, &seat] { serve(engine, seat); });
  // The kernel keeps 15 characters; what is cut off is only the end of a large number.
  pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
}

void Engines::join() noexcept {
  scheduler_.stop();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Engines::serve(Engine engine, Seat& seat) {
  WorksFor::until_its_end(owner_);
  for (;;) {
    auto const [operation, block] = scheduler_.take(engine, seat);
    if (operation == nullptr) return;
    if (operation->request.kind == Kind::kernel) {
      if (!compute_all(*operation, block, true)) continue;
    } else if (operation->request.kind == Kind::callback) {
      call(*operation);
    } else {
      copy(*operation);
    }
    observe(engine, *operation);
    scheduler_.finish(*operation);
  }
}

void Engines::work_on(ReadyWork::Work work) {
  auto const [kernel, block] = work;
  if (kernel == nullptr || !compute_all(*kernel, block, false)) return;
  observe(Engine::compute, *kernel);
  scheduler_.finish(*kernel);
}

/// Runs what the calling thread can claim, until something more urgent waits if it yields. True for the last to leave
/// the kernel, which finishes it.
bool Engines::compute_all(Operation& kernel, std::uint64_t block, bool yields) {
  compute(kernel, block, yields);
  if (!scheduler_.leave(kernel)) return false;
  // The kernel's captures die before the stream continues, and while no lock is held.
  kernel.request.kernel = nullptr;
  return true;
}

void Engines::copy(Operation const& operation) {
  Request const& request = operation.request;
  if (request.breaks) {
    scheduler_.lose(request.kind == Kind::download ? "a download faulted (injected)" : "an upload faulted (injected)",
                    nullptr, copy_fault);
  } else if (!request.from.empty()) {
    std::memcpy(request.to.data(), request.from.data(), request.from.size());
  }
}

void Engines::call(Operation const& operation) {
  Request const& request = operation.request;
  HostTime::forget();
  if (request.delivery == Delivery::never || request.delivery == Delivery::early) return;
  if (!request.knows_status && !operation.status.ok) return;
  StreamStatus const told = request.knows_status ? request.lie.value_or(operation.status) : StreamStatus{};
  request.callback->called(told);
  if (request.delivery == Delivery::twice) request.callback->called(told);
  HostTime::pay();
}

void Engines::compute(Operation& kernel, std::uint64_t block, bool yields) {
  if (kernel.request.breaks) return scheduler_.lose("a kernel faulted (injected)", nullptr, kernel_fault);
  WorkFailure* const failure = kernel.request.failure;
  auto const failed = [failure] { return failure != nullptr && failure->failed(); };
  try {
    do {
      if (failed()) return ReadyWork::skip(kernel);
      kernel.request.kernel(KernelBlock(static_cast<std::uint32_t>(block)));
    } while (yields ? scheduler_.claim(kernel, block) : ReadyWork::claim_any(kernel, block));
  } catch (...) {
    if (failure == nullptr) return lose_for_current_exception();
    failure->note(std::current_exception());
    ReadyWork::skip(kernel);
  }
}

/// Call this in a catch block.
void Engines::lose_for_current_exception() {
  try {
    throw;
  } catch (std::exception const& error) {
    scheduler_.lose("a kernel threw", error.what(), kernel_fault);
  } catch (...) {
    scheduler_.lose("a kernel threw something that is no std::exception", nullptr, kernel_fault);
  }
}

void Engines::observe(Engine engine, Operation const& operation) const {
  if (observer_ && scheduler_.keeper() == nullptr)
    observer_({engine, operation.stream->id, operation.start, Clock::now()});
}

}  // namespace penstock::cpu
