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

// NOLINTBEGIN(readability-identifier-naming): glibc calls them so.
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(readability-identifier-naming)

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
Countdown messages;
Countdown threads;

bool drives_a_device() noexcept {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  for (char const* const of_device : {"ps-lane", "ps-wait", "ps-upload", "ps-download", "ps-compute", "ps-callback"}) {
    if (std::strncmp(name.data(), of_device, std::strlen(of_device)) == 0) return true;
  }
  return false;
}

bool refuses(Countdown& what) noexcept {
  if (what.left.load(std::memory_order_relaxed) == 0 || drives_a_device() || !what.reached()) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

void refuse(Refusal what, std::size_t nth) {
  (what == Refusal::memory ? memory : what == Refusal::messages ? messages : threads).left = nth;
}

bool refuse_nothing() {
  bool any = false;
  for (Countdown* const what : {&memory, &messages, &threads}) {
    what->left = 0;
    any = what->refused.exchange(false) || any;
  }
  return any;
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

// The program's own functions come before the libraries', if these can see them.
#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t bytes) {
  using namespace penstock::test;
  return refuses(memory) ? nullptr : __libc_malloc(bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  using namespace penstock::test;
  return refuses(messages) ? nullptr : __libc_memalign(alignment, bytes);
}

int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*body)(void*), void* argument) {
  if (penstock::test::threads.reached()) return EAGAIN;
  using Create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static auto const create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, body, argument);
}

/// Keeps oneTBB from an allocator of its own, so that its memory comes from `memalign`.
void* dlopen(char const* name, int flags) {
  if (name != nullptr && std::strstr(name, "tbbmalloc") != nullptr) return nullptr;
  using Open = void* (*)(char const*, int);
  static auto const open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  return open(name, flags);
}
}
#pragma GCC visibility pop
