// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/collective/nccl.hpp"
#include "penstock/core/error.hpp"
#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device_group.hpp"
#include "penstock/kernels/element.hpp"
#include "penstock/lane/stage.hpp"

namespace penstock {

struct ReductionOptions {
  /// Whether `merge` may be called while the pipeline runs; then each tile costs an event more.
  bool while_running = false;
  /// Whether GPUs merge among themselves by NCCL, where it can be loaded; else by memory of the host.
  bool nccl = true;
  std::string nccl_library = {};  ///< As Nccl::open has it.
};

inline namespace PENSTOCK_FLAVOUR {

/// One lane's array on its device.
///
/// Threads: `update` the lane's; the rest is for Shares.
class Share {
 public:
  Share(Device& device, std::size_t bytes, bool guarded);
  Share(Share const&) = delete;
  Share& operator=(Share const&) = delete;

  std::span<std::byte> array() const noexcept { return memory_.bytes().first(bytes_); }
  /// Calls `body()`, which enqueues in `stream` what changes the array: behind a merge that reads it, and before the
  /// next one.
  ///
  /// Blocks: never, unless the device refuses to record an event: then until what is in the stream has ended, so that a
  /// merge sees it whole all the same.
  /// Throws: what `body` throws, and Error, if the device refuses an event: before `body`, or behind it.
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
  /// Has `stream` wait for the last update so far, calls `body()`, which enqueues in `stream` what reads the array, and
  /// has later updates wait for that.
  ///
  /// Throws: what `body` throws, and Error, if the device refuses an event.
  template <class Body>
  void read(StreamRef stream, Body body) {
    std::scoped_lock const lock(mutex_);
    if (updated_) stream.wait(*updated_);
    body();
    if (!read_) return;
    stream.record(*read_);
    being_read_ = true;
  }

 private:
  /// A merge sees an update whole or not at all.
  class Update {
   public:
    Update(Share& share, StreamRef stream);
    Update(Update const&) = delete;
    Update& operator=(Update const&) = delete;
    /// Ends it, if `end` was not called, because the body threw.
    ~Update();

    /// Has the next merge wait for all that is in the stream so far.
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
  std::optional<Event> updated_;  ///< Both only if merges may come while the pipeline runs.
  std::optional<Event> read_;
  bool being_read_ = false;
};

/// What a merge came to, as bytes.
struct MergedBytes {
  std::vector<std::byte> bytes;
  std::string how;                   ///< "by NCCL 2.28.3 on 2 GPUs", "by memory of the host, of 2 devices".
  std::vector<std::string> missing;  ///< Devices that were lost, and why: what their lanes had is not in it.
};

/// An array on the device of each lane of a pipeline, and how they become one. Reduction is what users see of it.
///
/// Threads: `share` those of lanes; the rest one at a time.
class Shares {
 public:
  /// Makes a stream of the highest priority on each device and memory to merge in, and has NCCL reduce once, so that a
  /// merge asks for none. The devices must outlive it.
  ///
  /// Blocks: with several GPUs and NCCL about a second.
  /// Throws: Error: out_of_device_memory; bad_argument, if no array is that long; device_lost.
  Shares(DeviceGroup const& devices, std::size_t count, ElementType type, ReduceOperation operation,
         ReductionOptions const& options);
  Shares(Shares const&) = delete;
  Shares& operator=(Shares const&) = delete;
  ~Shares();

  /// That of a lane; the same in each run of the pipeline.
  ///
  /// Throws: Error: no device memory; bad_argument for a device that is not of the group.
  Share& share(StageContext const& context);
  /// Merges what there is: first the lanes of each device in their order, on it; then the devices.
  ///
  /// Threads: the calling thread is attached to one of the devices afterwards.
  /// Blocks: until done, or a device that it waits for is lost or abandoned.
  /// Throws: Error: of kind device_lost, if every device that had lanes is lost, or a merge by NCCL, this or an earlier
  /// one, failed on its way; of kind device_refused, if a device refuses a call.
  MergedBytes merge();
  /// Makes all arrays as they were at first. Not while the pipeline runs.
  ///
  /// Blocks: until done.
  /// Throws: Error: as `merge` does after one by NCCL that failed, or if a device refuses.
  void clear();

 private:
  struct Member;
  void make_members();
  std::vector<Member*> all_members() const;
  void set_members_aside();
  void gather(Member& member);
  void reduce(std::vector<Member*> const& members);
  bool merge_by_nccl(std::vector<Member*> const& healthy, MergedBytes& merged, std::string& why_not);
  void merge_on_host(std::vector<Member*> const& healthy, MergedBytes& merged, std::string const& why_not);

  DeviceGroup const devices_;
  std::size_t const bytes_;
  ElementType const type_;
  ReduceOperation const operation_;
  bool const while_running_;
  std::vector<std::byte> identity_;
  std::vector<std::unique_ptr<Member>> members_;  ///< In the order of the devices.
  std::unique_ptr<Nccl> nccl_;
  std::string why_no_nccl_;      ///< Not in this reduction any more; empty while it may be.
  std::optional<Error> broken_;  ///< Why nothing may be merged any more.
  std::mutex mutex_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
