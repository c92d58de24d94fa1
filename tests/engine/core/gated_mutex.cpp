// SPDX-License-Identifier: Apache-2.0
#include "engine/core/gated_mutex.hpp"

#include <atomic>
#include <utility>

#include <dlfcn.h>
#include <pthread.h>

namespace penstock {
namespace {

thread_local std::function<void()> const* gate = nullptr;

}  // namespace

GatedMutex::GatedMutex(std::function<void()> before_lock) : before_lock_(std::move(before_lock)) {
  gate = &before_lock_;
}

GatedMutex::~GatedMutex() {
  gate = nullptr;
}

}  // namespace penstock

#if !defined(__SANITIZE_THREAD__)
/// Every std::mutex of the program comes here.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static std::atomic<Lock> next{nullptr};
  Lock lock = next.load(std::memory_order_acquire);
  if (lock == nullptr) {
    lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    next.store(lock, std::memory_order_release);
  }
  if (auto const* const before_lock = std::exchange(penstock::gate, nullptr)) (*before_lock)();
  return lock(mutex);
}
#endif
