// SPDX-License-Identifier: Apache-2.0
// What is computed on the records of a tile, and where each record lies.
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

#ifdef __CUDACC__
#define PENSTOCK_HOST_DEVICE __host__ __device__
#else
#define PENSTOCK_HOST_DEVICE
#endif

namespace penstock {

/// Where one record lies.
///
/// Units: bytes; `offset` is from the first byte of all records.
struct RecordPlace {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;

  bool operator==(RecordPlace const&) const = default;
};

/// Which bytes of a tile belong to which record. It is given to kernels by value.
///
/// Threads: any. Only where `places` is memory of a device is it for that device alone.
class RecordTable {
 public:
  RecordTable() = default;
  /// Records of the same size, one behind the other.
  constexpr RecordTable(std::uint32_t count, std::uint32_t bytes_each) noexcept : count_(count), bytes_(bytes_each) {}
  /// Records that lie where `places` says, which has `count` entries.
  constexpr RecordTable(std::uint32_t count, RecordPlace const* places) noexcept : count_(count), places_(places) {}

  PENSTOCK_HOST_DEVICE constexpr std::uint32_t size() const noexcept { return count_; }
#ifdef __CUDACC__
  /// In a CUDA kernel.
  __device__ RecordPlace operator[](std::uint32_t number) const noexcept {
    return place(number);
  }
#endif
  /// In a CPU kernel: the table may be memory of the device, which only kernels read.
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

/// The records of one tile as a stage sees them: on the device, or for a stage that reads once in the tile itself.
///
/// Shape: record i is `inputs[i].bytes` bytes from `input[inputs[i].offset]` on, and its result goes to where
/// `outputs[i]` says in `output`. With a pipeline that works in place both start at the same byte.
struct DeviceRecords {
  DeviceSpan<std::byte> input = {};   ///< All records, with gaps where they are of any size.
  DeviceSpan<std::byte> output = {};  ///< All that is brought back.
  RecordTable inputs = {};
  RecordTable outputs = {};
  std::uint64_t sequence = 0;  ///< The tile's.
};

/// What a user computes on the records of a tile at once. One object per lane, as with a Stage.
///
/// Threads: the lane's, from its making to its finish.
class RecordStage {
 public:
  virtual ~RecordStage() = default;
  /// As Stage::prepare.
  virtual void prepare(StreamRef) {}
  /// Enqueues the work on the records of one tile, one or more of them.
  ///
  /// Blocks:  should not; the device is still copying the input when this is called.
  /// Throws:  anything; the tile's records then fail with stage "stage".
  virtual void run(DeviceRecords const& records, StreamRef stream) = 0;
  /// As Stage::promises, of the bytes of records and of those of their results; `elementwise` gains nothing here. A
  /// capturable stage depends on nothing but where input and output lie, how large these are, and how many records
  /// there are. Kernels may read from the tables where each of them lies; the host, only if all are of the same size.
  virtual Promises promises() const noexcept { return {}; }
  /// As Stage::finish.
  virtual void finish(StreamRef) {}
};

/// How stages for records are made, and what becomes of them; as Stages.
struct RecordStages {
  std::function<std::unique_ptr<RecordStage>(StageContext const&)> make = {};
  std::function<void(RecordStage&)> merge = {};
  StageOrder order = {};  ///< Of the tiles, in the order in which they leave their writers.
};

/// A stage for records without state, from a function `body(DeviceRecords const&, StreamRef)`, called on every lane at
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

/// Stages of the user's type, made as Own(StageContext const&); `merge(Own&)` gets each lane's after its finish.
template <class Own>
RecordStages record_stage_per_lane(std::function<void(Own&)> merge = {}) {
  return {.make = [](StageContext const& context) { return std::make_unique<Own>(context); },
          .merge =
              [merge = std::move(merge)](RecordStage& stage) {
                if (merge) merge(static_cast<Own&>(stage));
              }};
}

}  // namespace penstock
