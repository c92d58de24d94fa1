// SPDX-License-Identifier: Apache-2.0
// A ledger in a PostgreSQL database, for the processes of many machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// A ledger in a schema of a PostgreSQL database (14 or later), which processes of any machine have open at once. It is
/// there where penstock was built with libpq; docs/lease.md says how to run the server.
///
/// What a call changed is on the server's disk when the call returns, if the server has fsync on.
///
/// Each owner has a connection of its own, and a thread, "ps-pg-lock", which makes that anew where it was lost. The
/// server sees at once that the process of an owner has ended, and within half a minute that its machine has. Where the
/// server itself begins anew, owners that are alive have ten seconds to come back with what they have.
///
/// An exchange is two transactions: it settles, and takes. If it throws, what it settled may be done. The owner knows
/// that: the same settlements may be sent again, and those that took effect are not refused.
///
/// While the server is gone, a call waits for two seconds, and throws LedgerUnavailable. `enqueue` may have added its
/// leases then, if it says that the connection was lost.
///
/// A child of fork may call nothing here.
///
/// Threads: any.
class PostgresLedger final : public Ledger {
 public:
  /// Shape:  `connection` is what libpq takes: "postgresql://HOST/DATABASE", or words "host=HOST dbname=DATABASE", or
  ///         the name of a service. A word `ledger` names the schema: "postgresql://HOST/DATABASE?ledger=NAME", by
  ///         default "penstock". A password is refused: it belongs into ~/.pgpass.
  /// Blocks: as enqueue.
  /// Throws: LedgerUnavailable, if there is no server; Error, with a sentence for each of these: it refuses the user,
  ///         has another certificate, no such database, is a standby; the ledger is of another version, purpose or
  ///         program; the user may not make it.
  explicit PostgresLedger(std::string const& connection, LedgerOptions options = {});
  PostgresLedger(PostgresLedger const&) = delete;
  PostgresLedger& operator=(PostgresLedger const&) = delete;
  ~PostgresLedger() override;

  /// Other programs hear of it by `LISTEN penstock`, with the ledger's name as the payload.
  bool enqueue(std::span<LeaseWork const> work, bool last = false) override;
  std::unique_ptr<LeaseOwner> join(OwnerOptions options = {}) override;
  /// It reads neither what is done nor what was never taken.
  LedgerProgress progress() override;
  /// The transactions of other users are shown to members of pg_read_all_stats.
  std::optional<LedgerUpkeep> upkeep() override;
  std::vector<ParkedLease> parked(std::uint64_t after = 0, std::size_t most = 1000) override;
  bool unpark(std::uint64_t number) override;
  std::vector<LeaseAnswer> answers(std::uint64_t after = 0, std::size_t most = 1000) override;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
