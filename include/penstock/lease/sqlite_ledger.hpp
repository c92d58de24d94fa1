// SPDX-License-Identifier: Apache-2.0
// A ledger in one file, for the processes of one machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/lease/ledger.hpp"

namespace penstock {

class LedgerStore;

/// A ledger in one file of SQLite, which any number of processes of this machine have open at once. It is the default.
///
/// What a call changed is on the disk when the call returns (write-ahead log, synchronous=FULL), so it survives the
/// loss of power if the disk keeps what it says that it wrote.
///
/// Beside FILE there are FILE-locks, by which processes take turns and see that others have ended; and FILE-wal and
/// FILE-shm, which are SQLite's. The process that closes it last removes these two; after that FILE can be copied by
/// any program. `copy_to` copies it while it is in use.
///
/// A process that is stopped (SIGSTOP) in its turn lets all others wait until it continues or ends; a stop that is
/// requested (std::stop_token) does not end that wait. A child of fork may
/// call nothing here.
///
/// Threads: any.
class SqliteLedger final : public Ledger {
 public:
  /// Blocks: as enqueue.
  /// Throws: Error, with a sentence for each of these: the file is no ledger, of another version or purpose, damaged,
  ///         cannot be written, or lies on a network file system; the disk is full; another program has it locked.
  explicit SqliteLedger(std::string const& path, LedgerOptions options = {});
  SqliteLedger(SqliteLedger const&) = delete;
  SqliteLedger& operator=(SqliteLedger const&) = delete;
  ~SqliteLedger() override;

  bool enqueue(std::span<LeaseWork const> work, bool last = false) override;
  std::unique_ptr<LeaseOwner> join(OwnerOptions options = {}) override;
  LedgerProgress progress() override;
  std::vector<ParkedLease> parked(std::uint64_t after = 0, std::size_t most = 1000) override;
  bool unpark(std::uint64_t number) override;
  std::vector<LeaseAnswer> answers(std::uint64_t after = 0, std::size_t most = 1000) override;

  /// Copies the ledger as it is now to a new file, also while it is in use. In the copy the owners have ended.
  ///
  /// Blocks: for the time of the copy, and all other processes with it.
  /// Throws: Error, if there is such a file, or it cannot be written.
  void copy_to(std::string const& path);

 private:
  std::shared_ptr<LedgerStore> store_;
};

}  // namespace penstock
