// SPDX-License-Identifier: Apache-2.0
// Completions of records, and the functions and objects that get them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "penstock/record_stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// The one answer to a record.
///
/// Threads: the one that is called with it. Its pointers are valid until that call returns.
struct RecordCompletion {
  std::uint64_t tag = 0;  ///< The writer's own number.
  Outcome outcome = Outcome::done;
  std::span<std::byte const> output = {};  ///< The result; nothing unless it is done.
  Failure const* failure = nullptr;        ///< Set if and only if the outcome is `failed`.

  bool ok() const noexcept { return outcome == Outcome::done; }
};

/// Gets the completion of every record that has no listener of its own. The records of a tile come in the order in
/// which they were written.
///
/// Threads: those of a pipeline's sink; and, if the pipeline itself was drained, each thread that wrote or sends the
///          records that are cancelled for that reason.
/// Throws:  anything; the report counts it as a failure of the sink, and the other records of the tile still get their
///          completions.
using RecordSink = std::function<void(RecordCompletion const&)>;

/// Is notified of the record that it was passed with.
class RecordListener {
 public:
  virtual ~RecordListener() = default;
  /// Called before any completion of the record.
  ///
  /// Threads: the writer's.
  /// Throws: anything; then there is no record.
  virtual void committed() {}
  /// Threads and Throws: as RecordSink. The listener may end its life in this call.
  virtual void complete(RecordCompletion const& completion) = 0;
};

/// The answers to all records of one tile, in the order in which they were written.
///
/// Threads: the one that is called with it. Its pointers are valid until that call returns.
class RecordCompletions {
 public:
  /// Data kept for each record.
  struct Entry {
    std::uint64_t tag = 0;
    RecordListener* listener = nullptr;
  };

  RecordCompletions(Outcome outcome, Failure const* failure, std::span<Entry const> entries) noexcept
      : outcome_(outcome), failure_(failure), entries_(entries) {}

  /// Outcome of all records of the tile.
  Outcome outcome() const noexcept { return outcome_; }
  bool ok() const noexcept { return outcome_ == Outcome::done; }
  /// Set if and only if the outcome is `failed`.
  Failure const* failure() const noexcept { return failure_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  /// The writer's own number.
  ///
  /// Shape: `number` is below size().
  std::uint64_t tag(std::uint32_t number) const noexcept { return entries_[number].tag; }
  /// True if the record was written with a listener, which is notified in addition.
  bool has_listener(std::uint32_t number) const noexcept { return entries_[number].listener != nullptr; }
  /// The result of a record; nothing unless it is done.
  std::span<std::byte const> output(std::uint32_t number) const noexcept {
    if (!ok()) return {};
    if (places_ == nullptr) return outputs_.subspan(number * each_, each_);
    return outputs_.subspan(places_[number].offset, places_[number].bytes);
  }
  /// All results. If they have a size of their own, or all records have the same, they are consecutive.
  std::span<std::byte const> outputs() const noexcept { return outputs_; }

 private:
  friend class Packing;
  friend class Records;

  Outcome outcome_;
  Failure const* failure_;
  std::span<Entry const> entries_;
  std::span<std::byte const> outputs_ = {};
  std::size_t each_ = 0;
  RecordPlace const* places_ = nullptr;  ///< Null: each record takes `each_` bytes.
};

/// Gets the completions of a tile's records. Threads and Throws: as RecordSink.
using RecordTileSink = std::function<void(RecordCompletions const&)>;

}  // namespace penstock
