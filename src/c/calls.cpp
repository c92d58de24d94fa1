// SPDX-License-Identifier: Apache-2.0
#include "c/calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

namespace penstock::c {
namespace {

/// The sentence of a thread; one that has no memory for it keeps its beginning.
struct Sentence {
  std::string whole = {};
  std::array<char, 256> beginning = {};
  bool in_whole = true;

  void set(std::string_view text) noexcept {
    try {
      whole = text;
      in_whole = true;
    } catch (...) {
      std::size_t const size = text.copy(beginning.data(), beginning.size() - 1);
      beginning[size] = '\0';
      in_whole = false;
    }
  }
  char const* text() const noexcept { return in_whole ? whole.c_str() : beginning.data(); }
};

thread_local Sentence last_error;
/// The function of the program that this thread is in: its reason to fail, and the kind of its last refused call.
thread_local Sentence failure;
thread_local std::optional<ErrorKind> refused;

penstock_status store(ErrorKind kind, std::string_view sentence) noexcept {
  last_error.set(sentence);
  refused = kind;
  return status_of(kind);
}

std::atomic<penstock_message_hook> users_hook{nullptr};

void call_users_hook(std::string_view sentence) noexcept {
  penstock_message_hook const hook = users_hook.load();
  if (hook == nullptr) return;
  Sentence text;
  text.set(sentence);
  hook(text.text());
}

}  // namespace

penstock_status status_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::bad_argument:
      return PENSTOCK_BAD_ARGUMENT;
    case ErrorKind::unsupported:
      return PENSTOCK_UNSUPPORTED;
    case ErrorKind::no_driver:
      return PENSTOCK_NO_DRIVER;
    case ErrorKind::driver_too_old:
      return PENSTOCK_DRIVER_TOO_OLD;
    case ErrorKind::no_device:
      return PENSTOCK_NO_DEVICE;
    case ErrorKind::out_of_device_memory:
      return PENSTOCK_OUT_OF_DEVICE_MEMORY;
    case ErrorKind::out_of_pinned_memory:
      return PENSTOCK_OUT_OF_PINNED_MEMORY;
    case ErrorKind::out_of_memory:
      return PENSTOCK_OUT_OF_MEMORY;
    case ErrorKind::device_refused:
      return PENSTOCK_DEVICE_REFUSED;
    case ErrorKind::device_lost:
      return PENSTOCK_DEVICE_LOST;
    case ErrorKind::system:
      return PENSTOCK_SYSTEM;
    case ErrorKind::ended:
      return PENSTOCK_ENDED;
    case ErrorKind::program:
      return PENSTOCK_FAILED;
  }
  return PENSTOCK_FAILED;
}

penstock_status store_current_exception() noexcept {
  try {
    throw;
  } catch (Error const& error) {
    return store(error.kind(), error.what());
  } catch (std::bad_alloc const&) {
    return store(ErrorKind::out_of_memory, "There is no memory left in this process: use fewer or smaller tiles.");
  } catch (std::exception const& error) {
    return store(ErrorKind::program, error.what());
  } catch (...) {
    return store(ErrorKind::program, "A function of the program threw something that is no std::exception.");
  }
}

char* copied(std::string const& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void begin_callback() noexcept {
  failure.set("");
  refused.reset();
}

void throw_failure_of(char const* function) {
  std::string reason = failure.text();
  if (reason.empty()) {
    reason = refused ? last_error.text()
                     : std::string("`") + function + "` failed and gave no reason: call penstock_fail in it.";
  }
  throw Error(refused.value_or(ErrorKind::program), reason);
}

}  // namespace penstock::c

using namespace penstock;

std::uint32_t penstock_version() {
  return PENSTOCK_VERSION_NUMBER;
}

char const* penstock_last_error() {
  return c::last_error.text();
}

void penstock_fail(char const* reason) {
  c::failure.set(reason == nullptr ? "" : reason);
}

void penstock_free_text(char* text) {
  std::free(text);
}

void penstock_set_message_hook(penstock_message_hook hook) {
  c::users_hook = hook;
  set_message_hook(hook == nullptr ? nullptr : c::call_users_hook);
}
