// SPDX-License-Identifier: Apache-2.0
// As much of a CUDA driver as a program of the tests needs. Work in a stream is done in order, once it is waited for;
// how long a stream is busy is what its kernels say. It has a legacy default stream and per-thread ones, and exports
// the entry points of both.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Stream {
  std::mutex mutex;
  Clock::time_point busy_until{};
  std::vector<std::function<void()>> work;

  void add(std::chrono::microseconds time, std::function<void()> one) {
    std::scoped_lock const lock(mutex);
    busy_until = std::max(busy_until, Clock::now()) + time;
    work.push_back(std::move(one));
  }
  void finish() {
    std::unique_lock lock(mutex);
    auto const end = busy_until;
    auto const mine = std::move(work);
    work.clear();
    for (auto const& one : mine) one();
    lock.unlock();
    // The device is at work.
    std::mutex alone;
    std::unique_lock waiting(alone);
    std::condition_variable().wait_until(waiting, end, [] { return false; });
  }
};

Stream legacy;
thread_local Stream own;

Stream& stream_of(void* handle, bool per_thread) {
  auto const number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 1 || (number == 0 && !per_thread)) return legacy;
  if (number == 2 || number == 0) return own;
  return *static_cast<Stream*>(handle);
}

std::atomic<unsigned> launches[2];

int launch(unsigned microseconds, void* stream, bool per_thread) {
  ++launches[per_thread ? 1 : 0];
  stream_of(stream, per_thread).add(std::chrono::microseconds(microseconds), [] {});
  return 0;
}

int copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream, bool per_thread) {
  stream_of(stream, per_thread).add(std::chrono::microseconds(0), [=] {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void const*>(from), bytes);
  });
  return 0;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int cuInit(unsigned) {
  return 0;
}
EXPORTED int cuStreamCreate(void** stream, unsigned) {
  *stream = new Stream;
  return 0;
}
EXPORTED int cuStreamDestroy_v2(void* stream) {
  delete static_cast<Stream*>(stream);
  return 0;
}

/// How many kernels came by the legacy entry point, or by the per-thread one.
EXPORTED unsigned stand_in_launches(bool per_thread) {
  return launches[per_thread ? 1 : 0];
}

// Each of them twice, as a driver has it.
#define BOTH(name, suffix, parameters, call) \
  EXPORTED int name parameters {             \
    constexpr bool per_thread = false;       \
    return call;                             \
  }                                          \
  EXPORTED int name##suffix parameters {     \
    constexpr bool per_thread = true;        \
    return call;                             \
  }
BOTH(cuLaunchKernel, _ptsz,
     (void*, unsigned microseconds, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream, void**,
      void**),
     launch(microseconds, stream, per_thread))
BOTH(cuMemcpyHtoDAsync_v2, _ptsz, (std::uint64_t to, void const* from, std::size_t bytes, void* stream),
     copy(to, reinterpret_cast<std::uint64_t>(from), bytes, stream, per_thread))
BOTH(cuMemcpyDtoHAsync_v2, _ptsz, (void* to, std::uint64_t from, std::size_t bytes, void* stream),
     copy(reinterpret_cast<std::uint64_t>(to), from, bytes, stream, per_thread))
BOTH(cuStreamSynchronize, _ptsz, (void* stream), (stream_of(stream, per_thread).finish(), 0))

// Interfaces of other versions, which the per-thread ones are not.
EXPORTED int cuMemcpyHtoDAsync(unsigned, void const*, unsigned, void*) {
  return 1;
}

EXPORTED int cuGetProcAddress(char const* name, void** found, int version, std::uint64_t flags);

EXPORTED int cuGetProcAddress_v2(char const* name, void** found, int version, std::uint64_t flags, int* status) {
  struct Entry {
    int since;
    void* legacy;
    void* per_thread;
  };
#define ENTRY(name, since, suffix)                                                \
  {                                                                               \
#name, {                                                                      \
      since, reinterpret_cast<void*>(name), reinterpret_cast<void*>(name##suffix) \
    }                                                                             \
  }
#define ALONE(name, since)                          \
  {                                                 \
#name, {                                        \
      since, reinterpret_cast<void*>(name), nullptr \
    }                                               \
  }
  static std::multimap<std::string_view, Entry> const entries{
      ENTRY(cuLaunchKernel, 4000, _ptsz),
      ENTRY(cuStreamSynchronize, 2000, _ptsz),
      {"cuMemcpyHtoDAsync", {2000, reinterpret_cast<void*>(cuMemcpyHtoDAsync), nullptr}},
      {"cuMemcpyHtoDAsync",
       {3020, reinterpret_cast<void*>(cuMemcpyHtoDAsync_v2), reinterpret_cast<void*>(cuMemcpyHtoDAsync_v2_ptsz)}},
      {"cuMemcpyDtoHAsync",
       {3020, reinterpret_cast<void*>(cuMemcpyDtoHAsync_v2), reinterpret_cast<void*>(cuMemcpyDtoHAsync_v2_ptsz)}},
      ALONE(cuInit, 2000),
      ALONE(cuStreamCreate, 2000),
      {"cuGetProcAddress", {11030, reinterpret_cast<void*>(cuGetProcAddress), nullptr}},
      {"cuGetProcAddress", {12000, reinterpret_cast<void*>(cuGetProcAddress_v2), nullptr}}};
  constexpr int first_per_thread = 7000;
  *found = nullptr;
  auto const [begin, end] = entries.equal_range(name);
  for (auto at = begin; at != end; ++at) {
    if (at->second.since > version) continue;
    bool const per_thread = (flags & 2) != 0 && at->second.per_thread != nullptr;
    if (per_thread && version < first_per_thread) continue;
    *found = per_thread ? at->second.per_thread : at->second.legacy;
  }
  if (status != nullptr) *status = *found == nullptr ? 1 : 0;
  return *found == nullptr && status == nullptr ? 500 : 0;
}

EXPORTED int cuGetProcAddress(char const* name, void** found, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, found, version, flags, nullptr);
}
