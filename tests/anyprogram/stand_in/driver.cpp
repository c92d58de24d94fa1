// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1, with as much of it as the programs of the tests need. It has a legacy default stream and
// per-thread ones, and exports the entry points of both. As the real one it loads at cuInit the library that
// CUDA_INJECTION64_PATH names.
//
// A copy takes 20 us, and a kernel as many as its grid has blocks. What a stream does, happens once it is waited for;
// but a copy from the host of more than a few bytes, and one without Async in its name, is done when the call returns.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include <dlfcn.h>

#include "anyprogram/stand_in/streams.hpp"
#include "anyprogram/stand_in/told.hpp"

namespace {

constexpr std::uint64_t microsecond = 1'000, copy_time = 20 * microsecond;
std::atomic<std::uint32_t> streams_made{0};
std::atomic<void*> capturing{nullptr};
void* destroyed = nullptr;

/// Entry point of a call: its number among CUPTI's, and whether 0 is the thread's own stream.
struct Entry {
  std::uint32_t number;
  bool per_thread;
};

constexpr std::uint32_t copy_kind = 1, kernel_kind = 10;
constexpr int to_device = 1, to_host = 2, pageable = 1, pinned = 2, on_device = 3;

std::atomic<unsigned> launches[2];

int launch(Entry entry, void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
           unsigned shared, void* stream, void** arguments, void** extra) {
  struct {
    void* function;
    unsigned sizes[7];
    void* stream;
    void** arguments;
    void** extra;
  } const parameters{function, {gx, gy, gz, bx, by, bz, shared}, stream, arguments, extra};
  ++launches[entry.per_thread ? 1 : 0];
  return told(entry.number, parameters, [&](std::uint32_t correlation) {
    When const when = stream_of(stream, entry.per_thread).add(now(cupti), gx * microsecond, {});
    if (cupti != nullptr)
      cupti->work(kernel_kind, correlation, number_of(stream, entry.per_thread), when.begin, when.end,
                  std::uint64_t{gx} * bx, 0, 0, 0);
    return 0;
  });
}

struct Way {
  int way, from, to;
};

/// Copies when the stream comes to it. `waits`: returns then.
void copy(Entry entry, std::uint32_t correlation, void* to, void const* from, std::size_t bytes, void* stream, Way way,
          bool waits) {
  Stream& where = stream_of(stream, entry.per_thread);
  When const when = where.add(now(cupti), copy_time, [=] { std::memcpy(to, from, bytes); });
  if (cupti != nullptr)
    cupti->work(copy_kind, correlation, number_of(stream, entry.per_thread), when.begin, when.end, bytes, way.way,
                way.from, way.to);
  if (waits) where.finish(cupti);
}

template <class To, class From>
int copy_async(Entry entry, To to, From from, std::size_t bytes, void* stream, int direction) {
  struct {
    To to;
    From from;
    std::size_t bytes;
    void* stream;
  } const parameters{to, from, bytes, stream};
  constexpr std::size_t few = 4096;
  bool const up = direction == to_device, waits = up && bytes > few;
  return told(entry.number, parameters, [&](std::uint32_t correlation) {
    if (stream != nullptr && stream == capturing) return 0;
    copy(entry, correlation, reinterpret_cast<void*>(to), reinterpret_cast<void const*>(from), bytes, stream,
         up ? Way{direction, waits ? pageable : pinned, on_device} : Way{direction, on_device, pinned}, waits);
    return 0;
  });
}

int copy_down(Entry entry, void* to, std::uint64_t from, std::size_t bytes) {
  struct {
    void* to;
    std::uint64_t from;
    std::size_t bytes;
  } const parameters{to, from, bytes};
  return told(entry.number, parameters, [&](std::uint32_t correlation) {
    copy(entry, correlation, to, reinterpret_cast<void const*>(from), bytes, nullptr, {to_host, on_device, pageable},
         true);
    return 0;
  });
}

int record(Entry entry, void* event, void* stream) {
  struct {
    void* event;
    void* stream;
  } const parameters{event, stream};
  return told(entry.number, parameters, [&](std::uint32_t) {
    record_event(event, stream_of(stream, entry.per_thread));
    return 0;
  });
}

int wait_for(Entry entry, void* stream, void* event, unsigned flags) {
  struct {
    void* stream;
    void* event;
    unsigned flags;
  } const parameters{stream, event, flags};
  return told(entry.number, parameters, [&](std::uint32_t) {
    wait_for_event(stream_of(stream, entry.per_thread), event, cupti);
    return 0;
  });
}

int synchronize(Entry entry, void* stream) {
  return told(entry.number, stream, [&](std::uint32_t) {
    stream_of(stream, entry.per_thread).finish(cupti);
    return 0;
  });
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): these are the driver's names.
#pragma GCC visibility push(default)
extern "C" {
int cuInit(unsigned) {
  [[maybe_unused]] static bool const loaded = [] {
    char const* const path = std::getenv("CUDA_INJECTION64_PATH");
    void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
    if (library == nullptr) return false;
    if (void* const beside = dlopen("libcupti.so.13", RTLD_NOW))
      cupti = static_cast<StandIn*>(dlsym(beside, "penstock_stand_in"));
    if (auto const start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) start();
    return true;
  }();
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
int cuStreamDestroy_v2(void* stream) {
  return told(326, stream, [&](std::uint32_t) {
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
  if (stream == destroyed && stream != nullptr) std::abort();
  *status = stream == capturing ? 1 : 0;
  return 0;
}
int cuDeviceGet(int* handle, int ordinal) {
  *handle = ordinal;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int mps_enabled = 133;
  *value = attribute == 16 ? 4 : attribute == mps_enabled ? std::getenv("STAND_IN_MPS") != nullptr : 1024;
  return 0;
}

/// Returns how many kernels came by the legacy entry point, or by the per-thread one.
unsigned stand_in_launches(bool per_thread) {
  return launches[per_thread ? 1 : 0];
}

// Each of them twice, as a driver has it, with CUPTI's number of each.
#define BOTH(name, suffix, number, number_per_thread, parameters, call) \
  int name parameters {                                                 \
    constexpr Entry entry{number, false};                               \
    return call;                                                        \
  }                                                                     \
  int name##suffix parameters {                                         \
    constexpr Entry entry{number_per_thread, true};                     \
    return call;                                                        \
  }
BOTH(cuLaunchKernel, _ptsz, 307, 442,
     (void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
      void* stream, void** arguments, void** extra),
     launch(entry, function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra))
BOTH(cuMemcpyHtoDAsync_v2, _ptsz, 277, 421, (std::uint64_t to, void const* from, std::size_t bytes, void* stream),
     copy_async(entry, to, from, bytes, stream, to_device))
BOTH(cuMemcpyDtoHAsync_v2, _ptsz, 279, 422, (void* to, std::uint64_t from, std::size_t bytes, void* stream),
     copy_async(entry, to, from, bytes, stream, to_host))
BOTH(cuMemcpyDtoH_v2, _ptds, 278, 398, (void* to, std::uint64_t from, std::size_t bytes),
     copy_down(entry, to, from, bytes))
BOTH(cuEventRecord, _ptsz, 119, 441, (void* event, void* stream), record(entry, event, stream))
BOTH(cuStreamWaitEvent, _ptsz, 295, 436, (void* stream, void* event, unsigned flags),
     wait_for(entry, stream, event, flags))
BOTH(cuStreamSynchronize, _ptsz, 126, 440, (void* stream), synchronize(entry, stream))

// Interfaces of other versions, which the per-thread ones are not.
int cuMemcpyHtoDAsync(unsigned, void const*, unsigned, void*) {
  return 1;
}

int cuGetProcAddress(char const* name, void** found, int version, std::uint64_t flags);

int cuGetProcAddress_v2(char const* name, void** found, int version, std::uint64_t flags, int* status) {
  struct Variants {
    int since;
    void* legacy;
    void* per_thread;
  };
#define BOTH_OF(name, function, since, suffix)                                            \
  {                                                                                       \
    name, {                                                                               \
      since, reinterpret_cast<void*>(function), reinterpret_cast<void*>(function##suffix) \
    }                                                                                     \
  }
#define ALONE(name, function, since)                    \
  {                                                     \
    name, {                                             \
      since, reinterpret_cast<void*>(function), nullptr \
    }                                                   \
  }
  static std::multimap<std::string_view, Variants> const entries{
      BOTH_OF("cuLaunchKernel", cuLaunchKernel, 4000, _ptsz),
      BOTH_OF("cuStreamSynchronize", cuStreamSynchronize, 2000, _ptsz),
      ALONE("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync, 2000),
      BOTH_OF("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2, 3020, _ptsz),
      BOTH_OF("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2, 3020, _ptsz),
      BOTH_OF("cuMemcpyDtoH", cuMemcpyDtoH_v2, 3020, _ptds),
      BOTH_OF("cuEventRecord", cuEventRecord, 2000, _ptsz),
      BOTH_OF("cuStreamWaitEvent", cuStreamWaitEvent, 3020, _ptsz),
      ALONE("cuInit", cuInit, 2000),
      ALONE("cuStreamCreate", cuStreamCreate, 2000),
      ALONE("cuGetProcAddress", cuGetProcAddress, 11030),
      ALONE("cuGetProcAddress", cuGetProcAddress_v2, 12000)};
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

int cuGetProcAddress(char const* name, void** found, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, found, version, flags, nullptr);
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
