// SPDX-License-Identifier: Apache-2.0
#include "support/failures_to_order.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" void* __libc_malloc(std::size_t bytes);  // NOLINT(readability-identifier-naming): glibc calls it so.

namespace penstock::test {
namespace {

struct Countdown {
  std::atomic<std::size_t> left{0};
  std::atomic<bool> refused{false};

  /// True for the one request that is refused.
  bool reached() noexcept {
    std::size_t seen = left.load(std::memory_order_relaxed);
    while (seen != 0) {
      if (!left.compare_exchange_weak(seen, seen - 1)) continue;
      if (seen != 1) return false;
      refused = true;
      return true;
    }
    return false;
  }
};

Countdown memory;
Countdown threads;

bool drives_a_device() noexcept {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  for (char const* const of_device : {"ps-lane", "ps-wait", "ps-upload", "ps-download", "ps-compute", "ps-callback"}) {
    if (std::strncmp(name.data(), of_device, std::strlen(of_device)) == 0) return true;
  }
  return false;
}

}  // namespace

void refuse(Refusal what, std::size_t nth) {
  (what == Refusal::memory ? memory : threads).left = nth;
}

bool refuse_nothing() {
  memory.left = 0;
  threads.left = 0;
  return memory.refused.exchange(false) || threads.refused.exchange(false);
}

std::string end_of_child(std::function<int()> const& body) {
  pid_t const child = fork();
  if (child == 0) {
    rlimit const most{60, 60};
    setrlimit(RLIMIT_CPU, &most);
    alarm(300);
    std::_Exit(body());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return "there was no child";
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace penstock::test

// The program's own functions come before the libraries'.
extern "C" {

void* malloc(std::size_t bytes) {
  using penstock::test::memory;
  if (memory.left.load(std::memory_order_relaxed) != 0 && !penstock::test::drives_a_device() && memory.reached()) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(bytes);
}

int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*body)(void*), void* argument) {
  if (penstock::test::threads.reached()) return EAGAIN;
  using Create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static auto const create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, body, argument);
}

/// Keeps oneTBB from an allocator of its own, so that its memory comes from `malloc`, too.
void* dlopen(char const* name, int flags) {
  if (name != nullptr && std::strstr(name, "tbbmalloc") != nullptr) return nullptr;
  using Open = void* (*)(char const*, int);
  static auto const open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  return open(name, flags);
}
}
