// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lease/lease_table.hpp"
#include "lease/ledger_file.hpp"

namespace penstock {

/// Notes when owners are heard from, looks for those that have ended or are silent, and makes ready what they had.
///
/// Threads: one at a time, in a LedgerSession.
class OwnerWatch {
 public:
  /// An owner that is gone, as it was seen.
  struct Gone {
    SqliteNumber id = 0;
    SqliteNumber heard = 0;  ///< When it was heard from last.
    std::string reason;      ///< A sentence.
  };

  /// Both must outlive it.
  OwnerWatch(LedgerFile& file, LeaseTable& leases);

  /// Notes that an owner is heard from. One that was let go is there again, without the leases that it had: the lock of
  /// its number was its own all the time.
  ///
  /// Shape: in a transaction.
  void note(SqliteNumber id, SqliteNumber silence);
  /// The owners that are gone. It changes nothing.
  std::vector<Gone> look();
  /// Makes the leases of these owners ready, as suspects, or parks them. An owner that was heard from after `look`
  /// keeps what it has.
  ///
  /// Shape: in a transaction.
  void let_go(std::vector<Gone> const& gone);

 private:
  LedgerFile& file_;
  LeaseTable& leases_;
  SqliteStatement note_;
  SqliteStatement owners_;
  SqliteStatement forget_;
};

}  // namespace penstock
