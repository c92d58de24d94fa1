// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "penstock/core/descriptor.hpp"
#include "penstock/machine/ending.hpp"

namespace penstock {

/// A descriptor that takes bytes, whatever it is: a regular file, a pipe, a connection, a device.
///
/// No write raises a signal. None but one to a regular file or to a device waits; one to a terminal does not, unless it
/// cannot be opened once more.
///
/// Threads: one at a time.
class Outlet {
 public:
  /// What a write came to.
  struct Taken {
    std::size_t bytes = 0;  ///< 0 without a problem: it has no room now.
    int problem = 0;        ///< An errno.
  };

  /// The descriptor stays the caller's, and outlives this object.
  explicit Outlet(int descriptor);

  /// Gives it what it takes, the whole of it or less.
  Taken give(std::span<std::byte const> bytes) const noexcept;
  /// Waits for room, no longer than `until`, and if `at_stop` no longer than to the request of the end.
  ///
  /// Returns: false, if there was none in time.
  bool await_room(Ending const& ending, bool at_stop,
                  std::optional<std::chrono::steady_clock::time_point> until) const noexcept;
  /// Takes the last so many bytes of a regular file away again, if they are its end.
  ///
  /// Returns: false, if it cannot.
  bool take_back(std::uint64_t bytes) const noexcept;
  bool is_regular() const noexcept { return kind_ == Kind::regular; }
  /// Closes what it has opened. Nothing is given from here on.
  void shut() noexcept { own_.shut(); }

 private:
  enum class Kind { regular, socket, other };
  int number() const noexcept { return own_.number >= 0 ? own_.number : descriptor_; }

  int const descriptor_;
  Kind kind_ = Kind::other;
  Descriptor own_;  ///< Of a pipe or a terminal: the same, opened so that it does not wait.
};

}  // namespace penstock
