// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "penstock/stream.hpp"

namespace penstock::cuda {

/// The calls that the driver still owes to the callbacks of one stream, or of every thread's default stream.
///
/// After a sticky fault no thread can wait for them: the driver may make them late, or never. So the driver gets a Call
/// of ours and never the callback itself, and once the stream is gone a Call does nothing.
///
/// Threads: any.
class PendingCalls {
 public:
  /// Stands for one call; the driver holds it.
  class Call;

  PendingCalls();
  PendingCalls(PendingCalls const&) = delete;
  PendingCalls& operator=(PendingCalls const&) = delete;
  /// From here on no callback is called. Calls that are still owed are left to the driver, a few bytes each.
  ///
  /// Blocks: until a call that is being made at this moment has returned.
  ~PendingCalls();

  /// A Call that is owed to `callback`.
  Call& owe(StreamCallback& callback);
  /// The driver refused it. Should it call all the same, nothing happens.
  static void drop(Call& call) noexcept;
  /// Drops all that are owed.
  ///
  /// Blocks: until a call that is being made at this moment has returned.
  void drop_all() noexcept;
  /// Makes it, unless it was dropped.
  ///
  /// Threads: the driver's. Takes no lock and allocates nothing.
  static void make(Call& call, StreamStatus status) noexcept;

 private:
  struct Calls;
  std::unique_ptr<Calls> calls_;
};

}  // namespace penstock::cuda
