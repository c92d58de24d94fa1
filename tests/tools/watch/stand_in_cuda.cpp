// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1: as the real one it loads at cuInit the library that CUDA_INJECTION64_PATH names. What it
// is asked for takes 20 us, one after the other in each stream, and happens at once in the host's memory.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include <dlfcn.h>
#include <time.h>

#include "tools/watch/stand_in.hpp"

namespace {

constexpr std::uint64_t length = 20'000;
StandIn* cupti = nullptr;
std::atomic<std::uint32_t> calls{0};
std::mutex mutex;
std::unordered_map<void*, std::uint64_t> free_at;
std::uint32_t streams_made = 0;
std::atomic<void*> capturing{nullptr};
void* destroyed = nullptr;

std::uint64_t now() {
  // One that refuses has no clock.
  if (std::uint64_t const told = cupti == nullptr ? 0 : cupti->now()) return told;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

struct Copy {
  int way = 0, from = 0, to = 0;
};

/// A call with its parameters as the real driver has them.
template <class Parameters, class Body>
int told(std::uint32_t number, Parameters const& parameters, Body const& body) {
  std::uint32_t const correlation = ++calls;
  std::uint64_t own = 0;
  if (cupti != nullptr) cupti->call(number, false, &parameters, nullptr, &own, correlation);
  int const result = body(correlation);
  if (cupti != nullptr) cupti->call(number, true, &parameters, &result, &own, correlation);
  return result;
}

std::uint64_t ask(std::uint32_t kind, std::uint32_t correlation, void* stream, std::uint64_t bytes, Copy copy = {}) {
  std::scoped_lock const lock(mutex);
  std::uint64_t& free = free_at[stream];
  std::uint64_t const begin = free > now() ? free : now();
  free = begin + length;
  auto const number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
  if (cupti != nullptr) cupti->work(kind, correlation, number, begin, free, bytes, copy.way, copy.from, copy.to);
  return free;
}

void spin_until(std::uint64_t moment) {
  while (now() < moment) {
  }
}

std::uint64_t free_moment(void* stream) {
  std::scoped_lock const lock(mutex);
  return free_at[stream];
}

constexpr std::uint32_t copy_kind = 1, kernel_kind = 10;
constexpr int pageable = 1, device = 3;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): these are the driver's names.
#pragma GCC visibility push(default)
extern "C" {
int cuInit(unsigned) {
  static bool const loaded = [] {
    char const* const path = std::getenv("CUDA_INJECTION64_PATH");
    void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
    if (library == nullptr) return false;
    if (void* const own = dlopen("libcupti.so.13", RTLD_NOW))
      cupti = static_cast<StandIn*>(dlsym(own, "penstock_stand_in"));
    if (auto const start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) start();
    return true;
  }();
  static_cast<void>(loaded);
  return 0;
}
int cuStreamCreate(void** stream, unsigned flags) {
  struct {
    void** stream;
    unsigned flags;
  } const parameters{stream, flags};
  return told(124, parameters, [&](std::uint32_t) {
    *stream = reinterpret_cast<void*>(std::uintptr_t{0x100} + ++streams_made);
    return 0;
  });
}
int cuMemcpyHtoDAsync_v2(void* to, void const* from, std::size_t bytes, void* stream) {
  struct {
    void* to;
    void const* from;
    std::size_t bytes;
    void* stream;
  } const parameters{to, from, bytes, stream};
  return told(277, parameters, [&](std::uint32_t correlation) {
    if (stream != nullptr && stream == capturing) return 0;
    std::memcpy(to, from, bytes);
    // Of memory that is not pinned, as all of it is here.
    spin_until(ask(copy_kind, correlation, stream, bytes, {1, pageable, device}));
    return 0;
  });
}
int cuMemcpyDtoH_v2(void* to, void const* from, std::size_t bytes) {
  struct {
    void* to;
    void const* from;
    std::size_t bytes;
  } const parameters{to, from, bytes};
  return told(278, parameters, [&](std::uint32_t correlation) {
    std::memcpy(to, from, bytes);
    spin_until(ask(copy_kind, correlation, nullptr, bytes, {2, device, pageable}));
    return 0;
  });
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** arguments, void** extra) {
  struct {
    void* function;
    unsigned sizes[7];
    void* stream;
    void** arguments;
    void** extra;
  } const parameters{function, {gx, gy, gz, bx, by, bz, shared}, stream, arguments, extra};
  return told(307, parameters, [&](std::uint32_t correlation) {
    ask(kernel_kind, correlation, stream, std::uint64_t{gx} * bx);
    return 0;
  });
}
int cuStreamSynchronize(void* stream) {
  struct {
    void* stream;
  } const parameters{stream};
  return told(126, parameters, [&](std::uint32_t) {
    spin_until(free_moment(stream));
    return 0;
  });
}
int cuStreamDestroy_v2(void* stream) {
  struct {
    void* stream;
  } const parameters{stream};
  return told(326, parameters, [&](std::uint32_t) {
    destroyed = stream;
    return 0;
  });
}
int cuStreamBeginCapture_v2(void* stream, int mode) {
  struct {
    void* stream;
    int mode;
  } const parameters{stream, mode};
  return told(539, parameters, [&](std::uint32_t) {
    capturing = stream;
    return 0;
  });
}
int cuStreamEndCapture(void* stream, void** graph) {
  struct {
    void* stream;
    void** graph;
  } const parameters{stream, graph};
  return told(497, parameters, [&](std::uint32_t) {
    capturing = nullptr;
    return 0;
  });
}
int cuStreamIsCapturing(void* stream, int* status) {
  // The real one would follow a pointer that is none.
  if (stream == destroyed) std::abort();
  *status = stream == capturing ? 1 : 0;
  return 0;
}
int cuDeviceGet(int* handle, int ordinal) {
  *handle = ordinal;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 16 ? 4 : 1024;
  return 0;
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
