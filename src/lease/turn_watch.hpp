// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>

#include <sys/types.h>

namespace penstock {

/// The process that has the lock by flock of the file with this device and inode. 0 if none has, or it cannot be seen
/// from here. Some file systems show another device there: then the inode counts, if only one file has it.
///
/// `locks` is what /proc/locks says.
pid_t find_lock_holder(std::istream& locks, dev_t device, ino_t file);

/// Prints a message when this process waits for long for its turn on a ledger. The message names the process that has
/// the turn. A thread of its own prints it, "ps-turn", which the first wait starts: no call waits for a lock and for a
/// time.
///
/// Threads: one at a time.
class TurnWatch {
 public:
  /// Shape: `ledger` is the name for messages, and `locks` the descriptor of the file that is locked, which must be
  /// open as
  ///        long as this is there. A wait has its message after `patience`, and at the latest after twice as long.
  TurnWatch(std::string ledger, int locks, std::chrono::nanoseconds patience);
  TurnWatch(TurnWatch const&) = delete;
  TurnWatch& operator=(TurnWatch const&) = delete;
  ~TurnWatch();

  /// A wait, as long as this is there.
  class Wait {
   public:
    explicit Wait(TurnWatch& watch) : watch_(watch) { watch_.begin(); }
    Wait(Wait const&) = delete;
    Wait& operator=(Wait const&) = delete;
    ~Wait() { watch_.end(); }

   private:
    TurnWatch& watch_;
  };

 private:
  void begin();
  void end();
  void work(std::stop_token const& stop);
  void tell() const;

  std::string const ledger_;
  int const locks_;
  std::chrono::nanoseconds const patience_;
  std::mutex mutex_;
  std::condition_variable_any waits_;
  bool is_waiting_ = false, is_idle_ = true, is_told_ = false;
  std::chrono::steady_clock::time_point since_;
  std::jthread thread_;
};

}  // namespace penstock
