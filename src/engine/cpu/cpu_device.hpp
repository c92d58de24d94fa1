// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/own_process.hpp"
#include "engine/cpu/fault_hook.hpp"
#include "engine/cpu/operation.hpp"
#include "engine/cpu/refusals.hpp"
#include "engine/cpu/time_keeper.hpp"
#include "engine/device/kept.hpp"
#include "penstock/device.hpp"

namespace penstock::cpu {

class CpuStream;
class Engines;
class MemoryLedger;
class OrderedMemory;
class PerThreadStream;
class Scheduler;

struct CpuOptions {
  int ordinal = 0;                               ///< The number that info() tells.
  unsigned compute_threads = 0;                  ///< 0: one for each CPU of the calling thread's affinity.
  unsigned callback_threads = 2;                 ///< At least 1; callbacks of this many streams may run at once.
  std::optional<std::size_t> memory_bytes = {};  ///< Maximum that it allocates; empty: as much as the host has.
  std::optional<std::size_t> pinned_bytes = {};  ///< Maximum that it pins; empty: no limit.
  Observer observer = {};                        ///< Is told of each operation.
  Flavour flavour = Flavour::per_thread;         ///< The default stream that is meant by "0".
  std::optional<int> numa_node = {};             ///< The node that info() tells; its threads may run elsewhere.
  TimeKeeperMaker time = {};                     ///< Keeps the time of what it stands for; null for the system's.
  std::shared_ptr<FaultHook> faults = {};        ///< Decides which of its calls go wrong; null: none does.
  double clock_drift = 0;  ///< Part by which its events' clock is faster than the host's; 0.00005 is usual for a GPU's.
};

/// Things that a device has lent and not got back. All 0 when its users have cleaned up.
struct Outstanding {
  std::size_t streams = 0;  ///< Default streams do not count.
  std::size_t events = 0;
  std::size_t captures = 0;  ///< Begun and not ended, in streams that may no longer exist.
  std::size_t allocations = 0;
  std::size_t allocated_bytes = 0;
  std::size_t pins = 0;
  std::size_t pinned_bytes = 0;

  bool operator==(Outstanding const&) const = default;
};

/// CPU threads that copy and compute as a GPU does: the device where there is no GPU, and the model of CUDA's stream
/// rules that tests are held to.
///
/// Uploads, downloads, kernels and callbacks run on threads of their own, so they overlap. A kernel's blocks are spread
/// over all compute threads; between two blocks a thread turns to the kernel of a more urgent stream, if there is one.
/// Memory of the host is copied alike whether pinned or not, except where a TimeKeeper tells them apart.
///
/// A kernel that throws fails what it is attributed to (StreamRef::attribute), as a lane attributes each tile's to the
/// tile. One that is attributed to nothing ends the device, as an illegal address ends a GPU's context: every later
/// call throws Error of kind device_lost with the first cause, copies and kernels that wait end without running,
/// callbacks are told. What runs at that moment runs to its end, and waiting threads are not let go while it could
/// still touch what they waited for.
///
/// Threads: any.
class CpuDevice : public Device {
 public:
  /// Throws: Error, if the options make no sense or the threads cannot be had.
  explicit CpuDevice(CpuOptions options = {});
  /// Says by a message if anything that it lent is still out.
  ///
  /// On a thread of its own, in a kernel that calls `std::exit`, say, and in a child of fork, which has none of its
  /// threads, it cannot wait: it leaves all that it has in memory.
  ///
  /// Blocks: until its default streams are idle; late callbacks are delivered for that. If it was abandoned, until its
  /// running work has ended: threads of the host cannot be left behind.
  ~CpuDevice() override;

  DeviceInfo info() const override;
  void attach() override;
  Flavour flavour() const noexcept override { return options_.flavour; }
  StreamRef per_thread_default_stream() override;
  StreamRef legacy_default_stream() override;
  /// The stream's destructor delivers all late callbacks of the device if the stream has work left, so that it ends.
  Stream make_stream(StreamOptions options = {}) override;
  Event make_event(EventOptions options = {}) override;
  /// The event may be this process's own, too.
  Event open_event(EventHandle const& handle) override;
  Flag make_flag() override;
  DeviceMemory allocate(std::size_t bytes) override;
  /// Makes no difference to copies without a TimeKeeper, but holds its user to a GPU's rules.
  Pinned pin(std::span<std::byte> host) override;
  void place(std::span<std::byte const> host, int node) override;
  std::optional<std::span<std::byte>> mapped(std::span<std::byte> host) override;
  void synchronize() override;
  std::optional<Error> take_refusal() override;
  std::optional<Error> lost() override;
  void abandon(Error const& why) override;
  bool abandoned() const noexcept override;
  void keep(std::shared_ptr<void> thing) override { kept_->keep(std::move(thing)); }
  std::vector<std::string> remarks() override;

  Outstanding outstanding() const;
  /// Number of callbacks and wake-ups that are late at this moment: their streams have reached them, and wait.
  std::size_t late_callbacks() const;
  /// Calls those that are late. Without this they are called when a stream that has work left is destroyed.
  void deliver_late_callbacks();

 private:
  void leave_all() noexcept;
  FaultPoints faults() const { return FaultPoints(options_.faults); }

  CpuOptions const options_;
  std::unique_ptr<Refusals> refusals_;
  std::unique_ptr<MemoryLedger> memory_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<OrderedMemory> ordered_;
  std::unique_ptr<Engines> engines_;
  std::unique_ptr<CpuStream> legacy_;
  std::unique_ptr<PerThreadStream> per_thread_;
  std::unique_ptr<Kept> kept_ = std::make_unique<Kept>();
  OwnProcess const process_;
};

}  // namespace penstock::cpu
