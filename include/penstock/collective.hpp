// SPDX-License-Identifier: Apache-2.0
// Reductions over devices and lanes: an array that all lanes add to, and sums over the arrays of devices.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"
#include "penstock/stages.hpp"

namespace penstock {

struct ReductionOptions {
  /// True: `merge` may be called while the pipeline runs; each tile then costs one event more.
  bool while_running = false;
  /// True: GPUs merge among themselves by NCCL, if it can be loaded; otherwise, or if false, through host memory.
  bool nccl = true;
  std::string nccl_library = {};  ///< Name or path of the NCCL library. Empty: libnccl.so.2.
};

/// The array of one lane on its device.
///
/// Threads: `update` by the lane's; all other functions are for Shares.
class Share {
 public:
  Share(Device& device, std::size_t bytes, bool guarded);
  Share(Share const&) = delete;
  Share& operator=(Share const&) = delete;

  std::span<std::byte> array() const noexcept { return memory_.bytes().first(bytes_); }
  /// Calls `body()`, which enqueues a change of the array in `stream`: behind a merge that reads it, and before the
  /// next one.
  ///
  /// Blocks: never, unless the device refuses to record an event: then until the work in the stream has ended, so that
  ///         a merge still sees all of the update.
  /// Throws: exceptions of `body`, and Error, if the device refuses an event: before or after `body`.
  template <class Body>
  auto update(StreamRef stream, Body body) {
    Update guard(*this, stream);
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      guard.end();
    } else {
      auto returned = body();
      guard.end();
      return returned;
    }
  }
  /// Makes `stream` wait for the last update so far, calls `body()`, which enqueues reads of the array in `stream`, and
  /// makes later updates wait for these.
  ///
  /// Throws: exceptions of `body`, and Error, if the device refuses an event.
  template <class Body>
  void read(StreamRef stream, Body body) {
    std::scoped_lock const lock(mutex_);
    if (updated_) stream.wait(*updated_);
    body();
    if (!read_) return;
    stream.record(*read_);
    being_read_ = true;
  }

  /// Polls, because a wait of the driver might not end: a thread stays in it when the device is abandoned.
  ///
  /// Blocks: until the stream is idle.
  /// Throws: Error, once the device is lost or abandoned.
  static void wait_by_asking(StreamRef stream);

 private:
  /// One update of the array. A merge sees all of it or nothing of it.
  class Update {
   public:
    Update(Share& share, StreamRef stream);
    Update(Update const&) = delete;
    Update& operator=(Update const&) = delete;
    /// Ends the update, if `end` was not called because the body threw.
    ~Update();

    /// Makes the next merge wait for the work in the stream so far.
    void end();

   private:
    Share& share_;
    StreamRef stream_;
    std::unique_lock<std::mutex> lock_;
    bool ended_ = false;
  };

  std::size_t const bytes_;
  DeviceMemory memory_;
  std::mutex mutex_;
  std::optional<Event> updated_;  ///< Both are set only if merges may happen while the pipeline runs.
  std::optional<Event> read_;
  bool being_read_ = false;
};

/// Result of a merge, as bytes.
struct MergedBytes {
  std::vector<std::byte> bytes;
  std::string how;                   ///< "by NCCL 2.28.3 on 2 GPUs", "by memory of the host, of 2 devices".
  std::vector<std::string> missing;  ///< Devices that were lost, with reasons: the result lacks the data of their
                                     /// lanes.
};

/// An array on the device of each lane of a pipeline, and their merge. Users see it as Reduction.
///
/// Threads: `share` those of lanes; the rest one at a time.
class Shares {
 public:
  /// Makes a stream of the highest priority and memory for merging on each device, and lets NCCL reduce once, so that a
  /// merge allocates nothing. The devices must outlive it.
  ///
  /// Blocks: with several GPUs and NCCL about a second.
  /// Throws: Error: out_of_device_memory; bad_argument, if no array is that long; device_lost.
  Shares(DeviceGroup const& devices, std::size_t count, ElementType type, ReduceOperation operation,
         ReductionOptions const& options);
  Shares(Shares const&) = delete;
  Shares& operator=(Shares const&) = delete;
  ~Shares();

  /// The share of a lane; the same in each run of the pipeline.
  ///
  /// Throws: Error: no device memory; bad_argument for a device that is not of the group.
  Share& share(StageContext const& context);
  /// Merges the shares: first the lanes of each device in their order, on it; then the devices.
  ///
  /// Threads: the calling thread is attached to one of the devices afterwards.
  /// Blocks: until done, or a device that it waits for is lost or abandoned.
  /// Throws: Error: of kind device_lost, if every device with lanes is lost, or a merge by NCCL, this or an earlier
  ///         one, failed in progress; of kind device_refused, if a device refuses a call.
  MergedBytes merge();
  /// Resets all arrays to their initial values. Not while the pipeline runs.
  ///
  /// Blocks: until done.
  /// Throws: Error: as `merge` does after a failed merge by NCCL, or if a device refuses.
  void clear();

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

/// Result of merging the lanes' arrays.
template <class Element>
struct Merged {
  std::vector<Element> values;
  /// The method in words, for a report: "by NCCL 2.28.3 on 2 GPUs", "by memory of the host, of 2 devices", "on one
  /// device".
  std::string how;
  /// Devices that were lost, with reasons: the result lacks the data of their lanes. Empty if it is complete.
  std::vector<std::string> missing;
};

/// An array of numbers to which each lane of a pipeline adds in a copy of its own on its device; the copies are merged
/// at the end. For histograms, sums, minima.
///
/// Integers are bit-identical, however lanes and devices shared the tiles. Floating-point numbers are combined lane by
/// lane and then device by device, in their order, or among GPUs in the order that NCCL chooses; the distribution of
/// tiles to lanes varies in either case. The result for a NaN in a minimum or maximum is undefined.
///
/// It must live from before the run until after the merge, and die before its devices. Over several runs it continues
/// counting, unless it is cleared.
///
/// Threads: `share` by those of lanes; all other functions one at a time. Also merge reductions that share GPUs one at
///          a time: two collectives in NCCL may wait for each other for ever.
template <class Element>
class Reduction {
 public:
  /// Makes a reduction for a pipeline on these devices.
  ///
  /// Shape:  `count` elements, integers or floating-point numbers of 4 or 8 bytes.
  /// Blocks: with several GPUs and NCCL about a second.
  /// Throws: Error: out_of_device_memory; bad_argument, if no array is that long; device_lost.
  explicit Reduction(DeviceGroup const& devices, std::size_t count, ReduceOperation operation = ReduceOperation::sum,
                     ReductionOptions const& options = {})
      : shares_(devices, count, element_type_of<Element>(), operation, options) {}

  /// The share of a lane, for a stage that keeps it: elements that a kernel may change in the lane's stream, in
  /// `share.update(stream, body)`.
  ///
  /// Throws: Error: no device memory; bad_argument for a device that it was not made for.
  Share& share(StageContext const& context) { return shares_.share(context); }
  static DeviceSpan<Element> elements(Share const& share) noexcept {
    return {reinterpret_cast<Element*>(share.array().data()), share.array().size() / sizeof(Element)};
  }

  /// Makes stages that only reduce: `body(DeviceTile const&, DeviceSpan<Element>, StreamRef)` enqueues the work that
  /// adds a tile to its lane's elements, and returns the bytes of output to copy back, or nothing for none. `prepare`
  /// loads its kernels before the lane's first tile, as blake3_prepare does.
  ///
  /// Threads: both are called on every lane at once.
  template <class Body>
  Stages on_device(Body body, std::function<void(StreamRef)> prepare = {}) {
    class Adding final : public Stage {
     public:
      Adding(Share& share, Body add, std::function<void(StreamRef)> load)
          : share_(share), add_(std::move(add)), load_(std::move(load)) {}
      void prepare(StreamRef stream) override {
        if (load_) load_(stream);
      }
      std::size_t run(DeviceTile const& tile, StreamRef stream) override {
        using Returned = std::invoke_result_t<Body&, DeviceTile const&, DeviceSpan<Element>, StreamRef>;
        if constexpr (std::is_void_v<Returned>) {
          share_.update(stream, [&] { add_(tile, elements(share_), stream); });
          return 0;
        } else {
          return share_.update(stream, [&] { return add_(tile, elements(share_), stream); });
        }
      }

     private:
      Share& share_;
      Body add_;
      std::function<void(StreamRef)> load_;
    };
    return {
        .make = [this, body = std::move(body), prepare = std::move(prepare)](
                    StageContext const& context) { return std::make_unique<Adding>(share(context), body, prepare); },
        .merge = {}};
  }

  /// Merges the arrays of all lanes, on streams of the highest priority; the lanes keep theirs. While the pipeline runs
  /// it is allowed only with ReductionOptions::while_running: each lane's elements are then those behind one of its
  /// tiles.
  ///
  /// Threads: the calling thread is attached to one of the devices afterwards.
  /// Blocks: until done, or a device that it waits for is lost or abandoned.
  /// Throws: Error: of kind device_lost, if every device with lanes is lost, or a merge by NCCL, this or an earlier
  ///         one, failed in progress; of kind device_refused, if a device refuses a call.
  Merged<Element> merge() {
    MergedBytes bytes = shares_.merge();
    Merged<Element> merged{.values = std::vector<Element>(bytes.bytes.size() / sizeof(Element)),
                           .how = std::move(bytes.how),
                           .missing = std::move(bytes.missing)};
    if (!merged.values.empty()) std::memcpy(merged.values.data(), bytes.bytes.data(), bytes.bytes.size());
    return merged;
  }
  /// Resets all arrays. Not while the pipeline runs.
  ///
  /// Blocks: until done.
  void clear() { shares_.clear(); }

 private:
  Shares shares_;
};

struct AllReduceOptions {
  /// Maximum number of blocks that it occupies on each device. With NCCL these are channels, and version 2.17 or later
  /// is needed. 0: NCCL chooses; 32 on a modelled GPU.
  unsigned blocks = 0;
  /// True: its kernels start before those of other streams that wait for room; false: after them.
  bool urgent = true;
  /// True: GPUs exchange data by NCCL, if it can be loaded; otherwise, or if false, through host memory.
  bool nccl = true;
  std::string nccl_library = {};  ///< Name or path of the NCCL library. Empty: libnccl.so.2.
  /// Factor by which the bytes of an array count on the link of a modelled GPU. Small arrays then show what large ones
  /// cost.
  double stands_for = 1;
};

class AllReduceMethod;

/// Reduces arrays of bytes over several devices. Users see it as AllReduce.
///
/// Threads: one at a time.
class AllReducer {
 public:
  struct Part {
    std::span<std::byte> array;
    StreamRef behind;
  };

  /// Takes the arguments of AllReduce's constructor, with the element type as a value.
  AllReducer(DeviceGroup const& devices, ElementType type, ReduceOperation operation, AllReduceOptions const& options);
  AllReducer(AllReducer const&) = delete;
  AllReducer& operator=(AllReducer const&) = delete;
  ~AllReducer();

  void start(std::vector<Part> const& parts);
  void wait();
  std::string const& how() const noexcept { return how_; }

 private:
  std::size_t const devices_;
  std::string how_;
  std::unique_ptr<AllReduceMethod> method_;
};

/// Combines arrays on several devices while other streams compute: each array becomes the sum, minimum or maximum of
/// all, element by element. It has its own streams. Data goes from GPU to GPU by NCCL, if that can be loaded at run
/// time, else through host memory.
///
/// Kernels of other streams that fill the devices delay it, whatever its priority: leave multiprocessors free
/// (Tuning::spare).
///
/// Integers are bit-identical; floating-point numbers are combined in the order of the devices, or among GPUs in the
/// order that NCCL chooses. The arrays of all devices are equal in either case.
///
/// Threads: one at a time, which is attached to one of the devices afterwards, if they are GPUs. Also use objects that
///          share GPUs one at a time, including a Reduction: two collectives in NCCL may wait for each other for ever.
template <class Element>
class AllReduce {
 public:
  /// The array of one device.
  struct Part {
    DeviceSpan<Element> array;
    StreamRef behind;  ///< The array is ready once this stream has passed the work that it was given so far.
  };

  /// The object must die before its devices. It allocates everything at construction, except an event for each device
  /// when more all-reduces are in progress than ever before.
  ///
  /// Shape:  elements are integers or floating-point numbers of 4 or 8 bytes.
  /// Blocks: with several GPUs and NCCL about a second.
  /// Throws: Error: out_of_device_memory; device_lost; system, if there are no threads left.
  explicit AllReduce(DeviceGroup const& devices, ReduceOperation operation = ReduceOperation::sum,
                     AllReduceOptions const& options = {})
      : reducer_(devices, element_type_of<Element>(), operation, options) {}

  /// Starts an all-reduce behind those that were started before. It uses the arrays until `wait` has returned or
  /// thrown.
  ///
  /// Shape:  a part for each device, in their order; arrays of equal length, of any length.
  /// Blocks: never.
  /// Throws: Error: bad_argument; device_refused or device_lost, as `wait`.
  void start(std::span<Part const> parts) {
    std::vector<AllReducer::Part> all;
    for (Part const& part : parts) {
      DeviceSpan<std::byte> const bytes = part.array.template as<std::byte>();
      all.push_back({{bytes.address(), bytes.size()}, part.behind});
    }
    reducer_.start(all);
  }
  void start(std::initializer_list<Part> parts) { start(std::span<Part const>(parts.begin(), parts.size())); }

  /// Waits for all all-reduces that were started.
  ///
  /// Blocks: until they are done, or a device is lost or abandoned.
  /// Throws: Error of kind device_lost, or of kind device_refused, if a device refuses a call. Arrays in progress are
  ///         then undefined, and nothing can be started any more. After a loss other GPUs may wait in NCCL for ever:
  ///         abandon them before their arrays are freed.
  void wait() { reducer_.wait(); }

  /// Describes the method for a report: "by NCCL 2.28.3 on 2 GPUs", "by memory of the host, of 2 devices", "on one
  /// device".
  std::string const& how() const noexcept { return reducer_.how(); }

 private:
  AllReducer reducer_;
};

}  // namespace penstock
