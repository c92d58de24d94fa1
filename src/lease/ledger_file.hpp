// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "lease/ledger_place.hpp"
#include "lease/sqlite_connection.hpp"

#include "engine/core/own_process.hpp"
#include "penstock/lease/sqlite_ledger.hpp"

namespace penstock {

/// States of a lease, as the file has them.
enum class LeaseState : std::uint8_t { ready = 0, out = 1, done = 2, parked = 3 };

/// An open ledger: its place, its connection, and what was decided when it was made.
///
/// Threads: any, each in a LedgerSession.
class LedgerFile {
 public:
  /// The form of the file. Files with another number are refused.
  static constexpr int version = 2;

  /// Throws: as SqliteLedger's constructor.
  LedgerFile(std::string const& path, LedgerOptions options);
  LedgerFile(LedgerFile const&) = delete;
  LedgerFile& operator=(LedgerFile const&) = delete;
  ~LedgerFile();

  LedgerPlace const& place() const noexcept { return place_; }
  SqliteConnection& connection() noexcept { return *connection_; }
  std::uint32_t most_tries() const noexcept { return most_tries_; }
  /// The time, of a clock that all processes of the machine share.
  std::chrono::nanoseconds now() const { return clock_(); }

  OwnProcess const process;

 private:
  friend class LedgerSession;
  void open(LedgerOptions const& options);
  void make(LedgerOptions const& options);
  void read(LedgerOptions const& options);

  std::mutex mutex_;
  LedgerPlace place_;
  std::function<std::chrono::nanoseconds()> const clock_;
  std::unique_ptr<SqliteConnection> connection_;
  std::uint32_t most_tries_ = 0;
};

/// The use of a ledger by one thread, while no other thread or process uses it.
///
/// Threads: one at a time.
class LedgerSession {
 public:
  /// Blocks: until the others have had their turns.
  /// Throws: Error, if this is a child of fork, or the file was removed or replaced.
  explicit LedgerSession(LedgerFile& file) : own_(expect_own(file)), lock_(file.mutex_), turn_(file.place()) {
    file.place().expect_same();
  }

 private:
  static bool expect_own(LedgerFile const& file);

  bool const own_;
  std::unique_lock<std::mutex> const lock_;
  LedgerTurn const turn_;
};

}  // namespace penstock
