// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "penstock/core/completion.hpp"

namespace penstock {

/// The one answer that every record gets.
///
/// Threads: the one that is called with it. What it points to is gone when that call returns.
struct RecordCompletion {
  std::uint64_t tag = 0;  ///< The writer's own.
  Outcome outcome = Outcome::done;
  std::span<std::byte const> output = {};  ///< The result; nothing unless it is done.
  Failure const* failure = nullptr;        ///< Set if and only if the outcome is `failed`.

  bool ok() const noexcept { return outcome == Outcome::done; }
};

/// Gets the completion of every record that has no listener of its own: of a tile's records in the order in which they
/// were written.
///
/// Threads: those of a pipeline's sink; and, if the pipeline itself was drained, each thread that wrote or sends the
/// records that are cancelled because of it.
/// Throws:  anything; the report counts it as a failure of the sink, and the other records of the tile get theirs all
/// the same.
using RecordSink = std::function<void(RecordCompletion const&)>;

/// Is told of the record that it was given with.
class RecordListener {
 public:
  virtual ~RecordListener() = default;
  /// Called before anything can be told of the record.
  ///
  /// Threads: the writer's.
  /// Throws: anything; then there is no record.
  virtual void committed() {}
  /// Threads and Throws: as RecordSink. The listener may end its life in this call.
  virtual void complete(RecordCompletion const& completion) = 0;
};

}  // namespace penstock
