// SPDX-License-Identifier: Apache-2.0
// Parts of all functions of the C interface: refusals as a status and a sentence, and structures that may grow.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "penstock/error.hpp"
#include "penstock/penstock.h"

namespace penstock::c {

/// The number that stands for this kind of error.
penstock_status status_of(ErrorKind kind) noexcept;

/// Stores the exception that is being handled as this thread's last error.
///
/// Returns: its status.
penstock_status store_current_exception() noexcept;

/// Calls `body`, and lets no exception out.
template <class Body>
penstock_status guarded(Body const& body) noexcept {
  try {
    body();
    return PENSTOCK_OK;
  } catch (...) {
    return store_current_exception();
  }
}

/// Throws: Error of kind bad_argument, if `pointer`, an argument or a member of this name, is null.
template <class Object>
Object& existing(Object* pointer, char const* name) {
  if (pointer == nullptr)
    throw Error(ErrorKind::bad_argument, std::string("`") + name + "` is null: pass one that exists.");
  return *pointer;
}

/// Throws: Error of kind bad_argument, if `pointer`, an argument of this name that has so many bytes, is null.
inline void expect_bytes(void const* pointer, std::size_t bytes, char const* name) {
  if (bytes > 0) static_cast<void>(existing(static_cast<std::byte const*>(pointer), name));
}

/// Copies a structure of the caller, which may be older or newer than this library.
///
/// Throws: Error of kind bad_argument, if it is null or has no size; of kind unsupported, if it sets a member that this
///         library does not know.
template <class Structure>
Structure sized(Structure const* given, char const* name) {
  // A structure that was not set to zero mostly has a greater number there.
  constexpr std::size_t most_bytes = 4096;
  std::size_t const size = existing(given, name).size;
  if (size < sizeof(Structure::size) || size > most_bytes) {
    throw Error(ErrorKind::bad_argument,
                std::string("`") + name + "` has no size: set its member `size` to the sizeof of its structure.");
  }
  Structure known{};
  auto const* const bytes = reinterpret_cast<unsigned char const*>(given);
  std::memcpy(&known, bytes, size < sizeof(known) ? size : sizeof(known));
  for (std::size_t i = sizeof(known); i < size; ++i) {
    if (bytes[i] != 0) {
      throw Error(
          ErrorKind::unsupported,
          std::string("`") + name + "` sets a member that this version of the library does not have: update it.");
    }
  }
  known.size = sizeof(known);
  return known;
}

/// A copy of the text that `penstock_free_text` frees.
///
/// Throws: std::bad_alloc.
char* copied(std::string const& text);

/// Forgets what an earlier function of the program said by `penstock_fail`, and which of its calls was refused.
void begin_callback() noexcept;
/// Throws: Error with the reason that the program's function gave to `penstock_fail`; without one, that of its last
///         call that was refused. Its kind is that of this call, or else `program`.
[[noreturn]] void throw_failure_of(char const* function);

}  // namespace penstock::c
