// SPDX-License-Identifier: Apache-2.0
// Stages for the records of a tile, the table of their places, and completions of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "penstock/device.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

#ifdef __CUDACC__
#define PENSTOCK_HOST_DEVICE __host__ __device__
#else
#define PENSTOCK_HOST_DEVICE
#endif

namespace penstock {

/// Place of one record.
///
/// Units: bytes; `offset` is from the first byte of all records.
struct RecordPlace {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;

  bool operator==(RecordPlace const&) const = default;
};

/// Table of the places of a tile's records. It is passed to kernels by value.
///
/// Threads: any. If `places` is memory of a device, the table is for that device alone.
class RecordTable {
 public:
  RecordTable() = default;
  /// Makes a table of consecutive records of the same size.
  constexpr RecordTable(std::uint32_t count, std::uint32_t bytes_each) noexcept : count_(count), bytes_(bytes_each) {}
  /// Makes a table of records at `places`, which has `count` entries.
  constexpr RecordTable(std::uint32_t count, RecordPlace const* places) noexcept : count_(count), places_(places) {}

  PENSTOCK_HOST_DEVICE constexpr std::uint32_t size() const noexcept { return count_; }
#ifdef __CUDACC__
  /// Place of a record, in a CUDA kernel.
  __device__ RecordPlace operator[](std::uint32_t number) const noexcept {
    return place(number);
  }
#endif
  /// Place of a record, in a CPU kernel: the table may be in device memory, which only kernels read.
  constexpr RecordPlace at(KernelBlock, std::uint32_t number) const noexcept {
    return place(number);
  }

 private:
  PENSTOCK_HOST_DEVICE constexpr RecordPlace place(std::uint32_t number) const noexcept {
    return places_ != nullptr ? places_[number] : RecordPlace{number * bytes_, bytes_};
  }

  std::uint32_t count_ = 0;
  std::uint32_t bytes_ = 0;
  RecordPlace const* places_ = nullptr;
};

/// The records of one tile as a stage gets them: on the device, or for a stage that reads once in the tile itself.
///
/// Shape: record i has `inputs[i].bytes` bytes from `input[inputs[i].offset]` on, and its result belongs at place
///        `outputs[i]` of `output`. If the pipeline works in place, both start at the same byte.
struct DeviceRecords {
  DeviceSpan<std::byte> input = {};   ///< All records, with gaps if they are of any size.
  DeviceSpan<std::byte> output = {};  ///< All results that are copied back.
  RecordTable inputs = {};
  RecordTable outputs = {};
  std::uint64_t sequence = 0;  ///< Sequence of the tile.
};

/// The user's computation on all records of a tile at once. Each lane has one object, as with a Stage.
///
/// Threads: the lane's, from its making to its finish.
class RecordStage {
 public:
  virtual ~RecordStage() = default;
  /// Has the contract of Stage::prepare.
  virtual void prepare(StreamRef) {}
  /// Enqueues the work on the records of one tile; there is at least one record.
  ///
  /// Blocks:  should not; the device is still copying the input when this is called.
  /// Throws:  anything; the tile's records then fail with stage "stage".
  virtual void run(DeviceRecords const& records, StreamRef stream) = 0;
  /// Has the contract of Stage::promises, for the bytes of records and their results; `elementwise` gains nothing here.
  /// A capturable stage depends on nothing but the places and sizes of input and output, and the number of records.
  /// Kernels may read the place of each record from the tables; the host may only if all records are of the same size.
  virtual Promises promises() const noexcept { return {}; }
  /// Has the contract of Stage::finish.
  virtual void finish(StreamRef) {}
};

/// Functions that make stages for records and take their results, as Stages has them.
struct RecordStages {
  std::function<std::unique_ptr<RecordStage>(StageContext const&)> make = {};
  std::function<void(RecordStage&)> merge = {};
  StageOrder order = {};  ///< Order of the tiles: that in which they leave their writers.
};

/// Makes a stateless stage for records from a function `body(DeviceRecords const&, StreamRef)`, called on every lane at
/// once.
///
/// Threads: the lanes', all at once.
/// Throws:  what the function throws fails the tile's records, as RecordStage::run.
template <class Body>
requires std::is_invocable_v<Body&, DeviceRecords const&, StreamRef> RecordStages on_device(Body body,
                                                                                            Promises promises = {}) {
  class Function final : public RecordStage {
   public:
    Function(Body run, Promises promised) : body_(std::move(run)), promises_(promised) {}
    Promises promises() const noexcept override { return promises_; }
    void run(DeviceRecords const& records, StreamRef stream) override { body_(records, stream); }

   private:
    Body body_;
    Promises promises_;
  };
  return {.make = [body = std::move(body),
                   promises](StageContext const&) { return std::make_unique<Function>(body, promises); },
          .merge = {}};
}

/// Makes stages of the user's type by Own(StageContext const&); `merge(Own&)` gets each lane's stage after its finish.
template <class Own>
RecordStages record_stage_per_lane(std::function<void(Own&)> merge = {}) {
  return {.make = [](StageContext const& context) { return std::make_unique<Own>(context); },
          .merge =
              [merge = std::move(merge)](RecordStage& stage) {
                if (merge) merge(static_cast<Own&>(stage));
              }};
}

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
