// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/core/descriptor.hpp"
#include "engine/machine/ending.hpp"

namespace penstock {

/// A descriptor that accepts bytes, of any kind: a regular file, a pipe, a connection, a device.
///
/// No write raises a signal. Only writes to a regular file or to a device block; one to a terminal does not, unless it
/// cannot be opened again.
///
/// Threads: one at a time.
class Outlet {
 public:
  /// Result of a write.
  struct Taken {
    std::size_t bytes = 0;  ///< 0 without a problem: there is no room now.
    int problem = 0;        ///< An errno.
  };

  /// The caller keeps the descriptor, which must outlive this object.
  explicit Outlet(int descriptor);

  /// Writes as many bytes as it accepts, perhaps not all.
  Taken give(std::span<std::byte const> bytes) const noexcept;
  /// Waits for room until `until` at most; if `at_stop`, only until the end is requested.
  ///
  /// Returns: false, if there was none in time.
  bool await_room(Ending const& ending, bool at_stop,
                  std::optional<std::chrono::steady_clock::time_point> until) const noexcept;
  /// Removes the last `bytes` bytes of a regular file, if they are still its end.
  ///
  /// Returns: false, if it cannot.
  bool take_back(std::uint64_t bytes) const noexcept;
  bool is_regular() const noexcept { return kind_ == Kind::regular; }
  /// Closes the descriptor that it has opened. No write may follow.
  void shut() noexcept { own_.shut(); }

 private:
  enum class Kind { regular, socket, other };
  int number() const noexcept { return own_.number >= 0 ? own_.number : descriptor_; }

  int const descriptor_;
  Kind kind_ = Kind::other;
  Descriptor own_;  ///< Descriptor of a pipe or a terminal, opened again so that it does not block.
};

}  // namespace penstock
