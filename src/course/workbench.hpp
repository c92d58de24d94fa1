// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "course/timeline.hpp"
#include "kernels/basic/busy.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "programs/command/pinned_memory.hpp"

namespace penstock::lab {

/// The floats that lie in some memory.
inline std::span<float> as_floats(std::span<std::byte> bytes) noexcept {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

inline namespace PENSTOCK_FLAVOUR {

using HostClock = Clock;

/// A kernel that an experiment asks for.
struct KernelWish {
  std::string_view label;
  std::chrono::nanoseconds duration;
  std::uint32_t blocks;
};

/// Duration of kernels, and the function that launches them.
struct WorkbenchOptions {
  /// This is long compared with the time that a busy host needs to launch a dozen kernels.
  std::chrono::nanoseconds kernel_time = std::chrono::milliseconds(20);
  /// Launches the kernel, which notes its start and end in *stamp.
  std::function<void(KernelWish const&, Stamp* stamp, StreamRef stream)> launch =
      [](KernelWish const& wish, Stamp* stamp, StreamRef stream) { busy(wish.duration, wish.blocks, stamp, stream); };
};

/// Number of blocks of such a kernel that leave no room for another: a GPU has room for at most 2048 threads a
/// multiprocessor.
inline std::uint32_t blocks_that_fill(DeviceInfo const& info) {
  return static_cast<std::uint32_t>(info.compute_units * (info.acts_as_gpu() ? 2 : 1));
}

/// The events around a piece of work.
struct Timed {
  EventRef start;
  EventRef end;
};

/// An experiment puts its work on a device here, and learns afterwards when each piece of it ran.
///
/// Kernels note their own times, and only kernels go into a default stream: an event that was recorded there to take
/// the time would itself alternate with other streams. Other work is timed by events before and after it, in its own
/// stream.
///
/// Threads: any, unless said otherwise.
class Workbench {
 public:
  /// Throws: Error, if the device has no memory for it or fails.
  explicit Workbench(DeviceGroup const& devices, WorkbenchOptions options = {});
  Workbench(Workbench const&) = delete;
  Workbench& operator=(Workbench const&) = delete;
  /// Blocks: until the device is idle.
  ~Workbench();

  /// The first device, which is meant unless something else is said.
  Device& device() const noexcept { return device_; }
  DeviceGroup const& devices() const noexcept { return devices_; }
  std::chrono::nanoseconds kernel_time() const noexcept { return options_.kernel_time; }

  /// Puts a kernel into a stream that runs for `times` the kernel time.
  ///
  /// Throws: Error, if the device refuses, or this is one kernel more than there is room for.
  void kernel(std::string row, std::string const& label, StreamRef stream, unsigned times = 1,
              std::uint32_t blocks = 1);

  /// Puts a kernel of that duration into a stream, without recording its times.
  void occupy(std::string_view label, std::chrono::nanoseconds duration, StreamRef stream, std::uint32_t blocks = 1);
  /// Holds the streams for a tenth of the kernel time: work that is put into them meanwhile is there when they
  /// continue, so the pace of the host makes no difference.
  ///
  /// Throws: Error, if the device refuses.
  void hold(std::span<Stream const> streams);
  /// True if the latest hold has not ended: what was put into its streams since then was there in time.
  ///
  /// Throws: Error, if the device fails.
  bool holding() const { return !holds_.empty() && !holds_.back().passed(); }

  /// Calls `work`, which puts something into `stream`, between two events there that take its time. Its start is that
  /// of its turn in the stream, not that of an engine which others keep busy. Labels of copies begin with "up" or
  /// "down".
  ///
  /// Shape:   no default stream.
  /// Blocks:  as `work` does.
  /// Throws:  Error, if the device refuses; and what `work` throws.
  Timed timed(std::string row, std::string label, StreamRef stream, std::function<void()> const& work);
  /// Notes work of a host thread. Relative to work of devices it is exact to some microseconds.
  void note(std::string row, std::string label, HostClock::time_point start, HostClock::time_point end);

  /// Number of pieces that were asked for so far.
  std::size_t pieces() const;
  /// Times at which each piece ran, in the order in which they were asked for. The first to start did so at 0.
  ///
  /// Threads: one, when no other asks for more pieces.
  /// Blocks:  until the device is idle.
  /// Throws:  Error, if the device fails, or a kernel never ran.
  std::vector<Interval> intervals();

 private:
  /// A kernel is timed by its stamp, other work of the device by its events, work of the host by its times.
  struct Events {
    Event start;
    Event end;
  };
  struct HostTimes {
    HostClock::time_point start;
    HostClock::time_point end;
  };
  struct Piece {
    std::string row;
    std::string label;
    std::variant<std::size_t, Events, HostTimes> when;
    Engine engine;
  };
  using Times = std::pair<std::chrono::nanoseconds, std::chrono::nanoseconds>;

  Stamp* on_device(std::size_t stamp) const noexcept;
  void find_zero();
  Times times_of(Piece const& piece, std::span<Stamp const> stamps) const;

  DeviceGroup const devices_;
  Device& device_;
  WorkbenchOptions const options_;
  Stream const own_;
  DeviceMemory const stamps_;
  /// One moment on the clocks of kernels, of events and of the host.
  std::uint64_t zero_stamp_ = 0;
  Event const zero_event_;
  HostClock::time_point host_zero_;
  std::mutex mutable mutex_;
  std::size_t stamps_used_ = 0;
  std::deque<Piece> pieces_;
  std::deque<Event> holds_;
};

/// Host threads that all do the same at once, each for itself, and then wait for the next task: objects that a device
/// keeps for each thread, such as a default stream, stay the same from one task to the next.
///
/// Threads: one, which makes it and asks it.
class ThreadTeam {
 public:
  /// Throws: std::system_error, if the threads cannot be had.
  ThreadTeam(Device& device, unsigned threads);
  ThreadTeam(ThreadTeam const&) = delete;
  ThreadTeam& operator=(ThreadTeam const&) = delete;
  ~ThreadTeam();

  /// Calls work(0), work(1) and so on, each on the thread of that number, attached to the device.
  ///
  /// Blocks: until all have returned.
  /// Throws: what one of them threw.
  void each(std::function<void(unsigned)> const& work);

 private:
  void serve(unsigned number);
  void join() noexcept;

  Device& device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(unsigned)> const* work_ = nullptr;
  std::uint64_t round_ = 0;    ///< Number of times that work was given out.
  std::size_t under_way_ = 0;  ///< Threads that have not finished this round.
  bool over_ = false;
  std::exception_ptr problem_;
  std::vector<std::thread> threads_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
