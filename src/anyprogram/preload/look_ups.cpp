// SPDX-License-Identifier: Apache-2.0
// A program finds entry points of the driver by dlsym, by cuGetProcAddress, which it finds by dlsym, or by the linker.
// This file handles the first two, and linked.cpp the third. docs/decisions/any-program.md has the reasons.
#include "anyprogram/preload/look_ups.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "anyprogram/preload/counted_calls.hpp"
#include "anyprogram/preload/entry_points.hpp"
#include "anyprogram/preload/turn_counts.hpp"

namespace penstock::preload {
namespace {

// These arguments and results of cuGetProcAddress are from cuda.h of CUDA 13.0.
using Result = int;
constexpr Result success = 0;
constexpr std::uint64_t wants_legacy = 1;
constexpr std::uint64_t wants_per_thread = 2;
/// Interfaces of earlier versions have no per-thread entry points.
constexpr int first_per_thread_version = 7000;
/// First version whose "cuGetProcAddress" has a status argument.
constexpr int first_version_with_status = 12000;
using Ask = Result (*)(char const* name, void** found, int version, std::uint64_t flags);
using AskForStatus = Result (*)(char const* name, void** found, int version, std::uint64_t flags, int* status);

constexpr EntryPoint entry_points[] = {
#define ENTRY(name, suffix, place) {#name, #suffix, StreamPlace::place},
    PENSTOCK_ENTRY_POINTS(ENTRY)
#undef ENTRY
};

enum class Mode { none, look, turn };

/// Task of the library in this process, and its counts.
struct Run {
  Mode mode = Mode::none;
  TurnCounts* counts = nullptr;
};

Run read_run() {
  char const* const text = std::getenv(mode_variable);
  if (text == nullptr) return {};
  bool const turn = std::strncmp(text, "turn:", 5) == 0;
  if (!turn && std::strncmp(text, "look:", 5) != 0) return {};
  int const file = open(text + 5, O_RDWR | O_CLOEXEC);
  if (file < 0) return {};
  void* const room = mmap(nullptr, sizeof(TurnCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (room == MAP_FAILED) return {};
  auto* const counts = static_cast<TurnCounts*>(room);
  ++counts->processes;
  return {turn ? Mode::turn : Mode::look, counts};
}

Run const& run() {
  static Run made;
  static std::atomic<int> state{0};  // 1: being made; 2: made.
  int none = 0;
  if (state.load(std::memory_order_acquire) == 2) return made;
  if (state.compare_exchange_strong(none, 1)) {
    made = read_run();
    state.store(2, std::memory_order_release);
  }
  while (state.load(std::memory_order_acquire) != 2) {
  }
  return made;
}

/// Length of the name without "_v2", "_v3", "_ptds" and "_ptsz".
std::size_t base_length(char const* name) {
  std::size_t length = std::strlen(name);
  auto const drop = [&](char const* end) {
    std::size_t const cut = std::strlen(end);
    if (length > cut && std::strncmp(name + length - cut, end, cut) == 0) length -= cut;
  };
  drop("_ptds");
  drop("_ptsz");
  drop("_v2");
  drop("_v3");
  return length;
}

/// The entry point with this name, whatever its version and variant; null if it does not have two variants.
EntryPoint const* known(char const* name) {
  std::size_t const length = base_length(name);
  for (EntryPoint const& entry : entry_points) {
    if (base_length(entry.name) == length && std::strncmp(entry.name, name, length) == 0) return &entry;
  }
  return nullptr;
}

bool ends_with(char const* name, char const* end) {
  std::size_t const length = std::strlen(name), cut = std::strlen(end);
  return length > cut && std::strcmp(name + length - cut, end) == 0;
}

bool is_per_thread(char const* name) {
  return ends_with(name, "_ptds") || ends_with(name, "_ptsz");
}

/// The per-thread variant of `name` that the driver exports; null if it exports none.
void* per_thread_export(void* handle, char const* name) {
  char whole[128];
  std::size_t const length = std::strlen(name);
  if (length + sizeof "_ptsz" > sizeof whole) return nullptr;
  void* found = nullptr;
  for (char const* const suffix : {"_ptsz", "_ptds"}) {
    if (found != nullptr) break;
    std::memcpy(whole, name, length + 1);
    std::memcpy(whole + length, suffix, sizeof "_ptsz");
    found = real_look()(handle, whole);
  }
  // This clears the error, which the program's next dlerror would report otherwise.
  if (found == nullptr) static_cast<void>(dlerror());
  return found;
}

void* looked_at(void* target, char const* name, Variant variant) {
  EntryPoint const* const entry = known(name);
  return entry == nullptr ? target : counted(target, entry->stream, variant, *run().counts);
}

// cuGetProcAddress of the driver, and ours, which programs get instead.

std::atomic<Ask> real_ask{nullptr};
std::atomic<AskForStatus> real_ask_for_status{nullptr};

/// Calls cuGetProcAddress of the driver in the driver's form, with or without a status argument.
Result ask(char const* name, void** found, int version, std::uint64_t flags, int* status) {
  *found = nullptr;
  if (AskForStatus const with = real_ask_for_status.load()) return with(name, found, version, flags, status);
  return real_ask.load()(name, found, version, flags);
}

/// The per-thread variant of `plain`, which the driver returned for these arguments; null if there is none. It looks up
/// version 7000 at least, since earlier ones have no variants. If the plain look-up at that version returns another
/// function than `plain`, that is a newer interface, and its variant must not replace `plain`.
void* turned(char const* name, void* plain, int version, std::uint64_t flags) {
  int const asked = version < first_per_thread_version ? first_per_thread_version : version;
  std::uint64_t const others = flags & ~wants_legacy;
  int status = 0;
  void* same = nullptr;
  void* other = nullptr;
  if (ask(name, &same, asked, others, &status) != success || same != plain) return nullptr;
  if (ask(name, &other, asked, others | wants_per_thread, &status) != success) return nullptr;
  return other == plain ? nullptr : other;
}

Result our_ask(char const* name, void** found, int version, std::uint64_t flags);
Result our_ask_for_status(char const* name, void** found, int version, std::uint64_t flags, int* status);

/// The function that the program gets instead of `plain`, which the driver returned.
void* answer(char const* name, void* plain, int version, std::uint64_t flags) {
  // cuGetProcAddress can look up itself.
  if (std::strcmp(name, "cuGetProcAddress") == 0) {
    bool const with = version >= first_version_with_status;
    if (with && real_ask_for_status.load() == nullptr) real_ask_for_status = reinterpret_cast<AskForStatus>(plain);
    if (!with && real_ask.load() == nullptr) real_ask = reinterpret_cast<Ask>(plain);
    return with ? reinterpret_cast<void*>(our_ask_for_status) : reinterpret_cast<void*>(our_ask);
  }
  Run const& now = run();
  ++now.counts->look_ups;
  bool const per_thread = (flags & wants_per_thread) != 0;
  if (per_thread) ++now.counts->asked_per_thread;
  if (now.mode == Mode::look) return looked_at(plain, name, per_thread ? Variant::per_thread : Variant::legacy);
  if (per_thread) return plain;
  void* const other = turned(name, plain, version, flags);
  if (other == nullptr) return plain;
  ++now.counts->turned;
  return other;
}

Result our_ask(char const* name, void** found, int version, std::uint64_t flags) {
  Result const result = real_ask.load()(name, found, version, flags);
  if (result == success && name != nullptr && found != nullptr && *found != nullptr)
    *found = answer(name, *found, version, flags);
  return result;
}

Result our_ask_for_status(char const* name, void** found, int version, std::uint64_t flags, int* status) {
  Result const result = real_ask_for_status.load()(name, found, version, flags, status);
  if (result == success && name != nullptr && found != nullptr && *found != nullptr)
    *found = answer(name, *found, version, flags);
  return result;
}

}  // namespace

Look real_look() {
  static std::atomic<Look> known_look{nullptr};
  Look look = known_look.load(std::memory_order_relaxed);
  if (look != nullptr) return look;
  // glibc has it in libc since 2.34, before in libdl.
  for (char const* const version : {"GLIBC_2.34", "GLIBC_2.2.5"}) {
    if (look == nullptr) look = reinterpret_cast<Look>(dlvsym(RTLD_NEXT, "dlsym", version));
  }
  known_look = look;
  return look;
}

bool is_name_of_driver(char const* name) {
  return name != nullptr && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

void* entry_point(void* handle, char const* name) {
  void* plain = real_look()(handle, name);
  if (is_export_of_ours(plain)) {
    handle = RTLD_NEXT;
    plain = real_look()(handle, name);
  }
  if (plain == nullptr || run().mode == Mode::none) return plain;
  Run const& now = run();
  ++now.counts->look_ups;
  if (std::strcmp(name, "cuGetProcAddress_v2") == 0) {
    real_ask_for_status = reinterpret_cast<AskForStatus>(plain);
    return reinterpret_cast<void*>(our_ask_for_status);
  }
  if (std::strcmp(name, "cuGetProcAddress") == 0) {
    real_ask = reinterpret_cast<Ask>(plain);
    return reinterpret_cast<void*>(our_ask);
  }
  bool const per_thread = is_per_thread(name);
  if (per_thread) ++now.counts->asked_per_thread;
  if (now.mode == Mode::look) return looked_at(plain, name, per_thread ? Variant::per_thread : Variant::legacy);
  void* const other = per_thread ? nullptr : per_thread_export(handle, name);
  if (other == nullptr) return plain;
  ++now.counts->turned;
  return other;
}

}  // namespace penstock::preload
