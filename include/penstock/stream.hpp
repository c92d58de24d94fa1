// SPDX-License-Identifier: Apache-2.0
// Streams, copies, callbacks and captures of a device.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/device_memory.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// Handle by which another process opens an event with Device::open_event. Its bytes may be sent by a pipe, a socket or
/// shared memory.
struct EventHandle {
  std::array<std::byte, 64> bytes = {};

  bool operator==(EventHandle const&) const = default;
};

/// A device implements this to have events. Users hold an Event or an EventRef.
class EventBackend {
 public:
  virtual ~EventBackend() = default;
  virtual bool passed() = 0;
  virtual void wait() = 0;
  virtual std::optional<std::chrono::nanoseconds> since(EventBackend& earlier) = 0;
  virtual void* native() const noexcept = 0;
  /// An event that was made for several processes overrides this.
  virtual EventHandle handle() {
    throw Error(ErrorKind::bad_argument,
                "This event is for one process: make it with EventOptions::interprocess to have a handle.");
  }
};

/// A point in a stream that others can wait for, also those of other devices of its kind. Cheap to copy; the Event it
/// came from must outlive it.
///
/// Threads: any, but record and query of one event must not race (one holder at a time).
class EventRef {
 public:
  EventRef(std::nullptr_t) = delete;
  explicit EventRef(EventBackend& backend) noexcept : backend_(&backend) {}

  /// True once the device has passed the last record, or if there never was one.
  ///
  /// Throws: Error, if the device reports a fault instead.
  bool passed() const { return backend_->passed(); }
  /// Waits until `passed()`.
  ///
  /// Blocks: until the device gets there.
  /// Throws: Error, as `passed()`.
  void wait() const { backend_->wait(); }
  /// Device time between the records of two events; empty until the device has passed both.
  ///
  /// Throws: Error of kind bad_argument, unless both were made with `timing`; and as `passed()`.
  std::optional<std::chrono::nanoseconds> since(EventRef earlier) const { return backend_->since(*earlier.backend_); }
  /// The device's own handle: a cudaEvent_t, or nothing of use on the CPU device.
  void* native() const noexcept { return backend_->native(); }
  /// Handle by which another process opens the event, as long as this process has it.
  ///
  /// Throws: Error of kind bad_argument, unless it was made with EventOptions::interprocess.
  EventHandle handle() const { return backend_->handle(); }
  EventBackend& backend() const noexcept { return *backend_; }

 private:
  EventBackend* backend_;
};

struct EventOptions {
  bool timing = false;         ///< Keep the time of the record, so that `since` works.
  bool blocking_wait = false;  ///< `wait` sleeps instead of spinning.
  bool interprocess = false;   ///< Other processes may open it by its handle; not together with `timing`.
};

/// Owns an event of a device. Must die before its Device.
class Event : public EventRef {
 public:
  explicit Event(std::unique_ptr<EventBackend> backend) noexcept : EventRef(*backend), owned_(std::move(backend)) {}

 private:
  std::unique_ptr<EventBackend> owned_;
};

/// A device implements this to have captures. Users hold a Capture.
class CaptureBackend {
 public:
  virtual ~CaptureBackend() = default;
  virtual std::size_t operations() const noexcept = 0;
};

/// The work that was put into a stream while it captured. Streams of its device repeat it by one call each time
/// (StreamRef::launch). On a GPU it is a CUDA graph.
///
/// Must die before its Device, and not before each stream has passed it. Memory that its operations name must be valid
/// whenever it is launched.
///
/// Threads: any, but one launch at a time. The work of several streams at once is unordered.
class Capture {
 public:
  explicit Capture(std::unique_ptr<CaptureBackend> backend) noexcept : owned_(std::move(backend)) {}

  /// Number of copies, kernels and other steps in it; if it is 0, a launch does nothing.
  std::size_t operations() const noexcept { return owned_->operations(); }
  CaptureBackend& backend() const noexcept { return *owned_; }

 private:
  std::unique_ptr<CaptureBackend> owned_;
};

class WorkFailure;

enum class DeviceKind : std::uint8_t { cpu, cuda };

/// State of the work before a callback, as the device reports it.
struct StreamStatus {
  bool ok = true;
  bool sticky = false;  ///< The device serves no caller any more.
  /// Error code of the device; 0 if ok.
  int code = 0;
};

/// A call that a device makes from a thread of its own once a stream gets there.
///
/// The object must live until it was called, its stream was destroyed, or its call was dropped: after that nothing
/// calls it, even on a lost device, where a call may come late or never. `called` makes no device call, takes no lock,
/// allocates nothing and logs nothing: it may push to a mailbox and wake a thread.
class StreamCallback {
 public:
  virtual void called(StreamStatus status) noexcept = 0;

 protected:
  ~StreamCallback() = default;
};

/// The body of a CPU kernel: called once per block, by any number of threads at once, in any order. The block is a
/// number as well, so a body that reads no memory of a device may take a std::uint32_t.
using CpuKernel = std::function<void(KernelBlock block)>;

/// One of several copies that are requested together.
///
/// Shape: that of StreamRef::upload, or download.
struct Copy {
  std::span<std::byte> to = {};
  std::span<std::byte const> from = {};
};

/// A device implements this to have streams. Users hold a Stream or a StreamRef.
class StreamBackend {
 public:
  virtual ~StreamBackend() = default;
  virtual DeviceKind kind() const noexcept = 0;
  virtual void upload(std::span<std::byte> to, std::span<std::byte const> from) = 0;
  virtual void download(std::span<std::byte> to, std::span<std::byte const> from) = 0;
  /// Copies one after the other, unless the device has a better way.
  virtual void upload_all(std::span<Copy const> copies) {
    for (Copy const& copy : copies) upload(copy.to, copy.from);
  }
  virtual void download_all(std::span<Copy const> copies) {
    for (Copy const& copy : copies) download(copy.to, copy.from);
  }
  /// Unsupported by default: only streams that a device made itself copy from device to device, if it can.
  virtual void copy(std::span<std::byte> /*to*/, std::span<std::byte const> /*from*/) {
    throw Error(ErrorKind::unsupported, "This stream copies nothing from device to device: download and upload it.");
  }
  virtual DeviceMemory allocate(std::size_t /*bytes*/) {
    throw Error(ErrorKind::unsupported, "This stream allocates no memory: use Device::allocate before the first tile.");
  }
  virtual void launch(std::uint32_t blocks, CpuKernel kernel, KernelCost const& cost) = 0;
  virtual void record(EventBackend& event) = 0;
  virtual void wait(EventBackend& event) = 0;
  virtual void call(StreamCallback& callback) = 0;
  virtual void launch_host_function(StreamCallback& callback) = 0;
  virtual void write(FlagBackend& flag, std::uint64_t number) = 0;
  virtual void drop_calls() = 0;
  virtual bool idle() = 0;
  virtual void synchronize() = 0;
  /// Unsupported by default: only streams that a device made itself capture, if it can.
  virtual void begin_capture() {
    throw Error(ErrorKind::unsupported, "This stream captures nothing: make one for it with Device::make_stream.");
  }
  virtual std::unique_ptr<CaptureBackend> end_capture() {
    throw Error(ErrorKind::bad_argument, "This stream captures nothing: begin with begin_capture.");
  }
  virtual void launch(CaptureBackend& /*capture*/) {
    throw Error(ErrorKind::unsupported, "This stream launches no captures: use one of the device that captured.");
  }
  /// Does nothing by default: a device whose faults always concern the whole device has nothing to attribute.
  virtual void attribute(WorkFailure* /*failure*/) {}
  /// Does nothing by default: if CPUs do not run the kernels, the launching thread does not take part.
  virtual void compute_here() {}
  virtual void* native() const noexcept = 0;
  /// True if kernels take the time that their cost states.
  virtual bool modelled() const noexcept { return false; }

 protected:
  /// Makes a block for a stream that calls CPU kernels itself, once all earlier work is done.
  static constexpr KernelBlock block(std::uint32_t number) noexcept { return KernelBlock(number); }
};

/// A queue of device work that runs in the order it was put in. Cheap to copy; the Stream it came from must outlive it.
///
/// No function here waits for the device unless its description says so. Memory named in a call must stay valid until
/// the stream has passed it.
///
/// Threads: any, but the order is only defined for calls that are themselves ordered.
/// Throws:  Error, if the device refuses the call or was lost before it.
class StreamRef {
 public:
  StreamRef(std::nullptr_t) = delete;
  explicit StreamRef(StreamBackend& backend) noexcept : backend_(&backend) {}

  /// The same handle; that of per-thread default streams still means another stream on each thread.
  bool operator==(StreamRef const&) const = default;

  DeviceKind kind() const noexcept { return backend_->kind(); }
  /// Copies host memory to device memory.
  ///
  /// Shape:  `to` has room for all of `from`, which may be empty.
  /// Blocks: never if the host memory is pinned; else the device may keep the caller until it has read it.
  void upload(DeviceSpan<std::byte> to, std::span<std::byte const> from) const {
    backend_->upload({to.address(), to.size()}, from);
  }
  /// Copies device memory to host memory. Shape and Blocks are those of `upload`.
  void download(std::span<std::byte> to, DeviceSpan<std::byte const> from) const {
    backend_->download(to, {from.address(), from.size()});
  }
  /// Copies device memory to device memory. One of the two is this device's; the other is its own as well, or that of
  /// another device of its kind, which need not be attached and must not end before. They must not overlap.
  ///
  /// Shape:  `to` has room for all of `from`, which may be empty.
  /// Throws: Error of kind bad_argument on the CPU device, if either is no memory of such a device.
  void copy(DeviceSpan<std::byte> to, DeviceSpan<std::byte const> from) const {
    backend_->copy({to.address(), to.size()}, {from.address(), from.size()});
  }
  /// Makes several copies in this place of the stream, in any order among them; no two may touch the same bytes. With
  /// CUDA 13 a GPU takes many by one call.
  ///
  /// Throws: Error; some of the copies may then be in the stream, and their memory must stay valid as if all were.
  void upload(std::span<Copy const> copies) const { backend_->upload_all(copies); }
  void download(std::span<Copy const> copies) const { backend_->download_all(copies); }
  /// Allocates device memory whose life follows the order of this stream, aligned to at least 256 bytes. Work that is
  /// put into the stream from now on may use it. Its destructor frees it in the stream: earlier work may use it to the
  /// end, and later allocations here may get the same bytes at once, without a wait of the host. Work of other streams
  /// may use it only between two events: behind one that is recorded here after this call, and before one that this
  /// stream waits for before the memory dies. On a GPU it is from the device's default memory pool (cudaMallocAsync),
  /// and kernels of other devices cannot access it.
  ///
  /// The memory must die before the stream; memory from a per-thread default stream on the thread that allocated it.
  /// Not while the stream captures.
  ///
  /// Blocks: never, but on a GPU as long as the driver takes to get more memory for its pool, and on a model as long as
  ///         this machine takes for memory that is new.
  /// Throws: Error of kind out_of_device_memory, also if the missing memory was freed in streams that have not reached
  ///         that point; the text says how much was asked for, how much is free, and the remedy. Error of kind
  ///         unsupported, if the GPU has no memory pools.
  DeviceMemory allocate(std::size_t bytes) const { return backend_->allocate(bytes); }
  /// Runs `kernel(0)` ... `kernel(blocks - 1)` on the CPU device's compute threads, and after `compute_here` on this
  /// one. An exception in it fails the object to which the launch is attributed, such as the tile for which a stage
  /// launched it; otherwise it is a sticky device fault. On a modelled GPU it takes as long as `cost` states.
  ///
  /// Throws: Error of kind `unsupported` on any other device.
  void launch(std::uint32_t blocks, CpuKernel kernel, KernelCost const& cost = {}) const {
    backend_->launch(blocks, std::move(kernel), cost);
  }
  /// Marks this place in the stream. An event that is recorded again forgets its earlier place.
  void record(EventRef event) const { backend_->record(event.backend()); }
  /// Makes later work in this stream wait until the event's last record so far has passed. The event may be of another
  /// device of the same kind. If that device is lost later on, this stream continues as if the event had passed: query
  /// the other device before you use its results.
  ///
  /// Throws: Error, if either device is lost.
  void wait(EventRef event) const { backend_->wait(event.backend()); }
  /// Makes the device call back once it gets here; the stream continues when the call has returned.
  void call(StreamCallback& callback) const { backend_->call(callback); }
  /// Does the same as `call` with CUDA's host functions: they have no status, so the callback always gets success, and
  /// once the device is lost it may be called late, with success, or never.
  void launch_host_function(StreamCallback& callback) const { backend_->launch_host_function(callback); }
  /// Keeps a lost device from making the calls still pending here; for a caller that is about to destroy their
  /// callbacks. On a GPU it drops the pending calls of all threads' default streams.
  ///
  /// Blocks: until a call in progress has returned.
  void drop_calls() const { backend_->drop_calls(); }
  /// Writes `number` to the flag once the device gets here; never once it is lost.
  void write(FlagRef flag, std::uint64_t number) const { backend_->write(flag.backend(), number); }
  /// True if the device has finished all earlier work.
  bool idle() const { return backend_->idle(); }
  /// Waits until `idle()`.
  ///
  /// Blocks: until the device has finished.
  void synchronize() const { backend_->synchronize(); }
  /// Begins a capture: the stream does not execute further work, but records it: copies and kernels, and on a GPU all
  /// else that CUDA captures. A call that would wait for the device, query it or request a callback is refused, which
  /// invalidates the capture. On a GPU, calls that CUDA forbids the calling thread meanwhile, such as allocation,
  /// invalidate it too.
  ///
  /// Threads: the one that ends it.
  /// Throws:  Error of kind unsupported for a default stream.
  void begin_capture() const { backend_->begin_capture(); }
  /// Ends the capture, also if it throws: the stream then executes work again.
  ///
  /// Blocks: while the device prepares it, on a GPU for some 10 us, and more with its size.
  /// Throws: Error, if the capture is invalid, or the device refuses it.
  Capture end_capture() const { return Capture(backend_->end_capture()); }
  /// Executes all captured work in this place of the stream.
  ///
  /// Shape: captured by a stream of this device.
  void launch(Capture const& capture) const { backend_->launch(capture.backend()); }
  /// Attributes the launches of the calling thread here from now on, including captures, to `failure`; null for
  /// nothing. An exception in a kernel is noted there, later kernels with the same attribution do not run, and the
  /// device continues. Captured work is attributed when it is launched. A GPU attributes nothing: each of its faults is
  /// sticky. AttributedHere ends the attribution.
  ///
  /// Threads: each for its own launches. `failure` must outlive them on the device.
  void attribute(WorkFailure* failure) const { backend_->attribute(failure); }
  /// Makes the launching thread take part in kernels on a CPU device, from now on, as long as the stream lives: once
  /// all earlier work is done, it runs the first block and all blocks that no other thread runs, so `launch` blocks for
  /// that long. Threads of the device may still run other blocks when it returns; for one block none of them is woken.
  /// Other devices, including models of GPUs, are not affected.
  ///
  /// Threads: any. For a per-thread default stream it applies to that of the calling thread.
  /// Throws:  as a call that enqueues work.
  void compute_here() const { backend_->compute_here(); }
  /// The device's own handle: a cudaStream_t, or nothing of use on the CPU device.
  void* native() const noexcept { return backend_->native(); }
  /// True for a stream of a modelled GPU: kernels take the time that their cost states, whatever their bodies do.
  bool modelled() const noexcept { return backend_->modelled(); }

 private:
  StreamBackend* backend_;
};

/// Options of a stream.
struct StreamOptions {
  /// True: the stream is serialised with the legacy default stream; false: it is independent of it.
  bool blocking = false;
  /// Priority; lower runs first. It is clamped to the device's range.
  int priority = 0;
};

/// Owns a stream of a device. Must die before its Device.
///
/// Blocks: in the destructor, until its work is done or the device is known to be lost; on the CPU device until the
///         running work has ended, in any case.
class Stream : public StreamRef {
 public:
  explicit Stream(std::unique_ptr<StreamBackend> backend) noexcept : StreamRef(*backend), owned_(std::move(backend)) {}

 private:
  std::unique_ptr<StreamBackend> owned_;
};

}  // namespace penstock
