// SPDX-License-Identifier: Apache-2.0
// Devices and groups of devices, their descriptions, and the CUDA stream behind a stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/device_memory.hpp"
#include "penstock/error.hpp"
#include "penstock/stream.hpp"

struct CUstream_st;  // CUDA's: a cudaStream_t points to it.

namespace penstock {

/// The default stream that "0" means.
enum class Flavour : std::uint8_t {
  per_thread,  ///< Each thread's own.
  legacy,      ///< One for the whole process.
};

/// "per-thread" or "legacy".
constexpr std::string_view flavour_name(Flavour flavour) noexcept {
  return flavour == Flavour::legacy ? "legacy" : "per-thread";
}

/// Description of a device. Unknown figures are empty or 0.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  int ordinal = 0;               ///< Its number among those of its kind; of a model, among those of the same name.
  std::string name;              ///< "NVIDIA H200", "CPU device".
  std::size_t memory_bytes = 0;  ///< All of its memory.
  std::size_t memory_free = 0;   ///< Memory that is free now.
  int copy_engines = 0;          ///< Number of copies that can run at the same time, and concurrently with kernels.
  int compute_units = 0;         ///< Multiprocessors, or compute threads.
  std::optional<int> numa_node;  ///< The host's NUMA node that it is attached to, if known.
  std::string pci_bus_id;        ///< "0000:1b:00.0"; empty without one.
  std::string link;              ///< "PCIe 5 x16"; empty if unknown.
  std::string capability;        ///< "9.0"; empty without one.
  std::string driver;            ///< "13.0"; empty without one.
  std::string runtime;           ///< "13.0"; empty without one.
  int least_priority = 0;        ///< The largest number a stream's priority may have.
  int greatest_priority = 0;     ///< The smallest.
  bool modelled = false;         ///< A CPU device that stands for a GPU: docs/models.md.
  std::string model;             ///< Name of a modelled GPU, as it follows "model:", such as "h200".
  unsigned host_cpus = 0;        ///< CPUs of the machine of a modelled GPU, if the model has them,
  unsigned host_nodes = 0;       ///< and its NUMA nodes; the GPU is on node 0.

  /// True for a GPU and for a model of one, which is used in the same way.
  bool acts_as_gpu() const noexcept { return kind == DeviceKind::cuda || modelled; }
};

/// Something that copies and computes on its own while host threads do other things: a GPU, or CPU threads in its
/// place.
///
/// Threads: any. A thread calls `attach` before its first use of the device's streams.
/// Throws:  Error; when it is sticky every later call fails too.
class Device {
 public:
  Device() = default;
  Device(Device const&) = delete;
  Device& operator=(Device const&) = delete;
  virtual ~Device() = default;

  /// Describes the device as it is now.
  virtual DeviceInfo info() const = 0;
  /// Makes this the calling thread's device, so that code which names none finds it.
  virtual void attach() = 0;

  /// The default stream that "0" means on this device (see Flavours in docs/architecture.md).
  ///
  /// Threads: any; it never changes.
  virtual Flavour flavour() const noexcept = 0;
  /// The default stream of the calling thread, as this device's flavour means it: one of the two that follow.
  ///
  /// Threads: the result is for the calling thread only: on others the same handle may mean another stream.
  StreamRef thread_default_stream() {
    return flavour() == Flavour::legacy ? legacy_default_stream() : per_thread_default_stream();
  }
  /// The calling thread's own stream "0", in either flavour. It is a blocking stream.
  ///
  /// Threads: the handle is the same for all threads, and for each of them means another stream.
  virtual StreamRef per_thread_default_stream() = 0;
  /// The one stream "0" of this device that is serialised with each of its blocking streams, in either flavour.
  virtual StreamRef legacy_default_stream() = 0;
  virtual Stream make_stream(StreamOptions options = {}) = 0;
  virtual Event make_event(EventOptions options = {}) = 0;
  /// Opens an event that another process made with EventOptions::interprocess on the same device of this machine, and
  /// still has. Both may wait for it and record it: again in the same stream, or once it was passed. If the process
  /// that recorded it last ends before the device gets there, threads and streams of the CPU device continue as if the
  /// event had passed; on a GPU they continue as the driver decides.
  ///
  /// Blocks: never.
  /// Throws: Error of kind bad_argument, if the handle names no event of such a device that exists; of kind
  ///         unsupported, if this device opens none.
  virtual Event open_event(EventHandle const& /*handle*/) {
    throw Error(ErrorKind::unsupported,
                "This device opens no events of other processes: wait in a thread of the host.");
  }
  /// Records an event of this device in a stream that other code has, such as another library's: a `cudaStream_t`, also
  /// one of the default streams, those as the calling thread has them. With `behind` that stream first waits until the
  /// event's last record has passed. The calling thread's current device does not change.
  ///
  /// Threads: any.
  /// Blocks:  never.
  /// Throws:  Error of kind unsupported, if streams of this device are penstock's only.
  virtual void record_in(void* /*stream*/, EventRef /*event*/, bool /*behind*/) {
    throw Error(ErrorKind::unsupported, "Streams of this device are of no other library: record by StreamRef::record.");
  }
  virtual Flag make_flag() = 0;

  /// Device memory, aligned to at least 256 bytes.
  ///
  /// Blocks: it may wait for the device's current work; so allocate before the first tile.
  /// Throws: Error of kind out_of_device_memory; the text says how much was asked for, how much is free, and what to
  /// reduce.
  virtual DeviceMemory allocate(std::size_t bytes) = 0;
  /// Pins host memory for this and all other devices of its kind. A slab that several GPUs copy from and to is pinned
  /// with one of them, which must outlive the others' work on it.
  ///
  /// Shape:  whole pages; none of them pinned already, with any device of this kind.
  /// Blocks: on a GPU 30 ms a GiB that was touched before; and it may wait for the device's current work.
  /// Throws: Error of kind out_of_pinned_memory; the text says which limit to raise.
  virtual Pinned pin(std::span<std::byte> host) = 0;
  /// Lets pinned memory count as memory of that NUMA node of the machine of a modelled GPU (DeviceInfo::host_nodes).
  ///
  /// Shape:  bytes of one region that was pinned with this device; all of it is meant, until it is unpinned.
  /// Throws: Error of kind bad_argument, if there is no such region or node; of kind unsupported, if the device is no
  ///         model of a machine with several nodes: there memory is on the node of its pages.
  virtual void place(std::span<std::byte const> /*host*/, int /*node*/) {
    throw Error(ErrorKind::unsupported,
                "Memory is on the node of its pages, except on a model that has several nodes (numa_nodes).");
  }
  /// Address range at which this device itself reads and writes host memory that was pinned with it or with another of
  /// its kind, for kernels that access it over the link; usually the same address. Empty if the memory was not pinned.
  ///
  /// Shape:  bytes of one pinned region; an empty span is allowed.
  /// Blocks: never.
  virtual std::optional<std::span<std::byte>> mapped(std::span<std::byte> host) = 0;

  /// Waits for all work of this process on the device. Only for tests and the end of a program.
  ///
  /// Blocks: until the device is idle.
  virtual void synchronize() = 0;
  /// Returns and clears the last error that a launch on the calling thread left without a report, such as a plain
  /// `<<<grid, block>>>`. Calls that throw leave nothing here.
  ///
  /// A GPU covers the calls through the CUDA runtime that penstock itself is linked to, whichever GPU they were meant
  /// for. On a lost device it may return the fault.
  ///
  /// Threads: any; each gets its own errors.
  /// Blocks:  never.
  virtual std::optional<Error> take_refusal() = 0;
  /// The fault that ended this device, if any. The calling thread's current device does not change.
  ///
  /// Blocks: never, except on a GPU for as long as a thread takes to start, if another device is the calling thread's
  ///         current one.
  virtual std::optional<Error> lost() = 0;

  /// Stops waiting for this device: from now on it is lost, because of `why`, to all its users. Meant for a kernel that
  /// does not end. A thread that waits for the CPU device is notified; a thread inside a wait of the driver stays
  /// there.
  ///
  /// The device's current work continues, perhaps for ever, so its memory stays allocated: what is freed or unpinned
  /// from now on is left to the device. Whatever else it may touch is passed to `keep`.
  ///
  /// Blocks: never.
  virtual void abandon(Error const& why) = 0;
  virtual bool abandoned() const noexcept = 0;
  /// Keeps `thing` alive as long as the device may touch it: until the end of the process for a GPU that was abandoned,
  /// else until the device dies.
  virtual void keep(std::shared_ptr<void> thing) = 0;
  /// Sentences for the report of a run on this device, about the time since the last call.
  ///
  /// Threads: any.
  virtual std::vector<std::string> remarks() { return {}; }
};

/// Name by which the device is opened: "cpu:0", "cuda:1", "model:h200"; the second device of a model is "model:h200#1".
inline std::string device_name(DeviceInfo const& info) {
  if (info.modelled) return "model:" + info.model + (info.ordinal > 0 ? "#" + std::to_string(info.ordinal) : "");
  return (info.kind == DeviceKind::cuda ? "cuda:" : "cpu:") + std::to_string(info.ordinal);
}

/// The devices that share some work; it owns none of them, and they outlive it.
///
/// Threads: as Device.
class DeviceGroup {
 public:
  /// One device is a group as well.
  DeviceGroup(Device& only) : all_{&only} {}  // NOLINT(google-explicit-constructor): as a device is meant.
  /// Throws: Error of kind bad_argument, if there is no device or one of them is null.
  DeviceGroup(std::vector<Device*> all) : all_(std::move(all)) {  // NOLINT(google-explicit-constructor): likewise.
    if (all_.empty()) throw Error(ErrorKind::bad_argument, "There is no device to share the work: name one at least.");
    if (std::ranges::count(all_, nullptr) > 0) throw Error(ErrorKind::bad_argument, "One of the devices is null.");
  }
  DeviceGroup(std::initializer_list<Device*> all) : DeviceGroup(std::vector<Device*>(all)) {}

  std::vector<Device*> const& all() const noexcept { return all_; }
  std::size_t size() const noexcept { return all_.size(); }
  Device& front() const noexcept { return *all_.front(); }

  /// Combines the infos of all devices. `name` has each name once, with the number of devices that have it, as "2 x
  /// NVIDIA H200". Memory, engines and units are sums; the rest is that of the first device.
  DeviceInfo info() const {
    DeviceInfo sum = front().info();
    std::vector<std::pair<std::string, std::size_t>> named{{sum.name, 1}};
    for (std::size_t i = 1; i < all_.size(); ++i) {
      DeviceInfo const next = all_[i]->info();
      sum.memory_bytes += next.memory_bytes;
      sum.memory_free += next.memory_free;
      sum.copy_engines += next.copy_engines;
      sum.compute_units += next.compute_units;
      auto const same =
          std::find_if(named.begin(), named.end(), [&](auto const& one) { return one.first == next.name; });
      same == named.end() ? static_cast<void>(named.emplace_back(next.name, 1)) : static_cast<void>(++same->second);
    }
    sum.name.clear();
    for (auto const& [name, count] : named) {
      sum.name += (sum.name.empty() ? "" : " + ") + (count > 1 ? std::to_string(count) + " x " : "") + name;
    }
    return sum;
  }
  /// The device_name of each device.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (Device* const device : all_) names.push_back(device_name(device->info()));
    return names;
  }
  /// The fault that ended the first lost device in their order, if any is lost.
  ///
  /// Blocks: as Device::lost, for each.
  std::optional<Error> lost() const {
    for (Device* const device : all_) {
      if (auto loss = device->lost()) return loss;
    }
    return std::nullopt;
  }
  /// True if none of them serves any more.
  ///
  /// Blocks: as Device::lost, for each.
  bool all_lost() const {
    return std::all_of(all_.begin(), all_.end(), [](Device* device) { return device->lost().has_value(); });
  }

 private:
  std::vector<Device*> all_;
};

/// Owns one or more devices that share some work; `open_devices` opens them by name.
///
/// Threads: as Device.
class Devices : public DeviceGroup {
 public:
  /// Throws: Error of kind bad_argument, if there is no device or one of them is null.
  explicit Devices(std::vector<std::unique_ptr<Device>> opened)
      : DeviceGroup(pointers(opened)), owned_(std::move(opened)) {}

 private:
  static std::vector<Device*> pointers(std::vector<std::unique_ptr<Device>> const& opened) {
    std::vector<Device*> all;
    for (auto const& device : opened) all.push_back(device.get());
    return all;
  }

  std::vector<std::unique_ptr<Device>> owned_;
};

/// The CUDA stream of a GPU, a `cudaStream_t`, for launches and libraries that take one.
///
/// Threads: as the stream; the handle of per-thread default streams means another stream on each thread.
/// Throws:  Error of kind bad_argument, for a stream of the CPU device.
inline CUstream_st* cuda_stream(StreamRef stream) {
  if (stream.kind() != DeviceKind::cuda) {
    throw Error(
        ErrorKind::bad_argument,
        "This is a stream of the CPU device: ask StreamRef::kind first, and give the work to StreamRef::launch.");
  }
  return static_cast<CUstream_st*>(stream.native());
}

/// A device that was named and is not open yet.
class DeviceToOpen {
 public:
  DeviceToOpen() = default;
  DeviceToOpen(DeviceToOpen const&) = delete;
  DeviceToOpen& operator=(DeviceToOpen const&) = delete;
  virtual ~DeviceToOpen() = default;

  /// Name of the device. Equal names in a list are numbered from 0.
  virtual std::string_view called() const noexcept = 0;
  /// Factor by which the Clock is slower with it; 1 for a real device. All devices of a process have the same.
  virtual unsigned slower() const noexcept = 0;
  /// Opens it. `threads`: its share of the threads that can be busy at once.
  virtual std::unique_ptr<Device> open(int ordinal, unsigned threads, Flavour flavour) = 0;
  /// Makes the Clock as slow as it says, once all of its list are open.
  ///
  /// Throws: as Clock::slow_down.
  virtual void slow_clock() = 0;
};

/// Makes devices of some names, as "model:h200". It is named where devices are opened, and registers nowhere.
///
/// Threads: any.
class DeviceMaker {
 public:
  DeviceMaker() = default;
  DeviceMaker(DeviceMaker const&) = delete;
  DeviceMaker& operator=(DeviceMaker const&) = delete;
  virtual ~DeviceMaker() = default;

  /// The names that it knows, as messages state them: "model:NAME".
  virtual std::string names() const = 0;
  /// The device of that name; null, if the name is none of its own.
  ///
  /// Throws: Error of kind bad_argument, if the name is one of its own and there is no such device.
  virtual std::unique_ptr<DeviceToOpen> find(std::string_view name) const = 0;
};

}  // namespace penstock
