// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lease/ledger_file.hpp"

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// The rows of leases: what settles them, and what is taken next.
///
/// Threads: one at a time, in a LedgerSession and a transaction.
class LeaseTable {
 public:
  explicit LeaseTable(LedgerFile& file);

  void enqueue(LeaseWork const& work);
  /// Settles a lease, if the owner has it by this try. Otherwise nothing changes, and the reason is returned.
  std::string settle(SqliteNumber owner, Settlement const& settlement);
  /// Hands out what LeaseOwner::exchange says, and records the tries.
  std::vector<Lease> take(SqliteNumber owner, std::size_t most);
  /// Gives back all that the owner has, without a charge.
  void give_back_all(SqliteNumber owner);
  /// Makes all that the owner had ready, as suspects, or parks it, for this reason.
  void return_all(SqliteNumber owner, std::string const& reason);
  bool any_ready_or_out();
  /// True if this owner has a lease.
  bool any_out_to(SqliteNumber owner);

 private:
  std::uint32_t charged_of(std::uint64_t number);
  std::string refusal_of(Settlement const& settlement);
  Lease hand_out(SqliteNumber owner, SqliteNumber number);

  LedgerFile& file_;
  SqliteStatement add_work_;
  SqliteStatement add_lease_;
  SqliteStatement acknowledge_;
  SqliteStatement give_back_;
  SqliteStatement fail_;
  SqliteStatement park_;
  SqliteStatement look_;
  SqliteStatement held_;
  SqliteStatement suspects_;
  SqliteStatement promise_;
  SqliteStatement ordinary_;
  SqliteStatement hand_out_;
  SqliteStatement read_;
  SqliteStatement give_back_all_;
  SqliteStatement return_all_;
  SqliteStatement release_promised_;
  SqliteStatement unfinished_;
};

}  // namespace penstock
