// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include <sys/epoll.h>

#include "engine/core/descriptor.hpp"

namespace penstock {

/// The descriptor itself.
///
/// Throws: Error of kind system, if it is none, with what `errno` says.
int expect_descriptor(int descriptor);

/// Descriptors that one call waits for, each with a pointer of its owner.
///
/// Threads: any.
class PollSet {
 public:
  /// Throws: Error of kind system, if the process has no descriptor left.
  PollSet();

  /// `events` as of epoll_ctl.
  ///
  /// Throws: Error of kind system, if the system refuses.
  void add(int descriptor, std::uint32_t events, void* what);
  void change(int descriptor, std::uint32_t events, void* what);
  void remove(int descriptor) noexcept;
  /// Those of them that are ready; empty if none was in time.
  ///
  /// Blocks: until one is, for `at_most`.
  std::span<epoll_event> wait(std::span<epoll_event> room, std::optional<std::chrono::milliseconds> at_most) const;
  /// Readable while one of its descriptors is ready.
  int descriptor() const noexcept { return epoll_.number; }

 private:
  Descriptor const epoll_;
};

}  // namespace penstock
