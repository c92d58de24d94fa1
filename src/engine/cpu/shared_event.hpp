// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/cpu/onward.hpp"
#include "penstock/stream.hpp"

namespace penstock::cpu {

/// An event that several processes have, in a page of memory that they share (docs/decisions/between-devices.md).
/// Records are counted, and so are those that were passed.
///
/// Threads: any, but records of one event by one thread at a time.
class SharedEvent : public std::enable_shared_from_this<SharedEvent> {
 public:
  /// Throws: Error of kind system, if the page cannot be had.
  static std::shared_ptr<SharedEvent> make();
  /// Throws: Error of kind bad_argument, if the handle names none that exists.
  static std::shared_ptr<SharedEvent> open(EventHandle const& handle);

  SharedEvent(SharedEvent const&) = delete;
  SharedEvent& operator=(SharedEvent const&) = delete;
  ~SharedEvent();
  /// Its owner in this process has it no longer. Those that are to be told are told all the same.
  void end() noexcept;

  EventHandle handle() const noexcept;

  /// Counts a record of this process; its number goes to `pass` once the device gets there.
  std::uint64_t record() noexcept;
  void pass(std::uint64_t record) noexcept;
  /// The number of the last record so far; 0 before the first.
  std::uint64_t recorded() const noexcept;
  /// True if that was one of this process.
  bool recorded_here() const noexcept;
  bool passed(std::uint64_t record) const noexcept;
  /// Waits until `passed(record)`, or for about a tenth of a second. Then it looks whether the process that recorded
  /// last is still there; if not, all its records have passed.
  void wait_a_while(std::uint64_t record) noexcept;
  /// Has `onward` told, by a thread of the event, once `record` has passed.
  ///
  /// Throws: Error of kind system, if no thread can be started; `onward` is the caller's as before then.
  void tell_when_passed(std::uint64_t record, std::unique_ptr<Onward>& onward);

 private:
  struct Page;

  explicit SharedEvent(int descriptor);
  void take_place();
  std::uint32_t changes() const noexcept;
  void await_change(std::uint64_t record, std::uint32_t seen) noexcept;
  void wake() noexcept;
  void watch() noexcept;

  int descriptor_;
  Page* page_ = nullptr;
  std::uint32_t place_ = 0;  ///< This process's among those that have the event.

  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<Onward>>> waiting_;
  bool ending_ = false;
  std::thread watcher_;
};

}  // namespace penstock::cpu
