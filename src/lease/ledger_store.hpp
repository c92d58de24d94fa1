// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "lease/lease_table.hpp"
#include "lease/ledger_file.hpp"
#include "lease/owner_watch.hpp"

#include "engine/core/own_process.hpp"

namespace penstock {

/// A ledger's file and the statements on it, which the ledger and its owners share.
///
/// Threads: any, each in a LedgerSession.
class LedgerStore {
 public:
  /// A child of fork leaves the store to its parent.
  ///
  /// Throws: as SqliteLedger's constructor.
  static std::shared_ptr<LedgerStore> open(std::string const& path, LedgerOptions options);

  LedgerStore(std::string const& path, LedgerOptions options);
  LedgerStore(LedgerStore const&) = delete;
  LedgerStore& operator=(LedgerStore const&) = delete;

  OwnProcess const process;
  LedgerFile file;
  LeaseTable leases;
  OwnerWatch watch;

  /// True if no more leases can be enqueued.
  bool is_closed();

 private:
  SqliteStatement closed_;
};

}  // namespace penstock
