// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lease/turn_watch.hpp"
#include <sys/types.h>

#include "engine/core/descriptor.hpp"

namespace penstock {

/// The reason why a ledger cannot lie on a file system of this type, statfs::f_type: there locks do not hold between
/// machines, or at all. Empty if it can.
std::string file_system_problem(long type);

/// Where a ledger lies: the file, and the file beside it whose locks its processes take turns by. All names of a file
/// lead to the same place.
///
/// Threads: one at a time.
class LedgerPlace {
 public:
  /// Makes the file of locks if it is not there. A wait for a turn that takes longer than `patience` has a message,
  /// which names the process that has the turn.
  ///
  /// Throws: Error, if the folder cannot be written, or the file system is of a network; if the file is a folder, or
  ///         has several names.
  explicit LedgerPlace(std::string const& path, std::chrono::nanoseconds patience = std::chrono::seconds(5));

  /// The file, by its whole path.
  std::string const& path() const noexcept { return path_; }
  /// The name that the caller used, for messages.
  std::string const& name() const noexcept { return name_; }
  /// True if the file is there and holds something.
  bool holds_something() const;
  /// Notes which file it is. From now on `expect_same` refuses another one of this name.
  void note_file();
  /// Throws: Error, if the ledger or the file of locks was removed or replaced.
  void expect_same() const;
  /// The descriptor of the file of locks.
  int locks() const noexcept { return locks_.number; }
  /// Tells of waits for turns that take long.
  TurnWatch& turn_watch() const noexcept { return turn_watch_; }
  /// The same file, opened once more: its locks are others.
  ///
  /// Throws: Error of kind system.
  int open_locks() const;

 private:
  std::string const name_;
  std::string const path_;
  std::string const locks_path_;
  Descriptor const locks_;
  TurnWatch mutable turn_watch_;
  dev_t device_ = 0;
  ino_t file_ = 0;
};

/// The turn of this process: while it is there, no other process of penstock reads or writes the ledger. The system
/// ends it with the process.
///
/// Threads: one at a time.
class LedgerTurn {
 public:
  /// Blocks: until other processes have had theirs.
  /// Throws: Error of kind system.
  explicit LedgerTurn(LedgerPlace const& place);
  LedgerTurn(LedgerTurn const&) = delete;
  LedgerTurn& operator=(LedgerTurn const&) = delete;
  ~LedgerTurn();

 private:
  int const locks_;
};

}  // namespace penstock
