// SPDX-License-Identifier: Apache-2.0
// Events: points in streams that threads and other streams can wait for.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

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

}  // namespace penstock
