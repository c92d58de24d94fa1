// SPDX-License-Identifier: Apache-2.0
// The ledger that a name means.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// True for an address of a PostgreSQL server: "postgresql://..." or "postgres://...".
inline bool is_postgres_address(std::string_view where) noexcept {
  return where.starts_with("postgresql://") || where.starts_with("postgres://");
}

/// Opens a ledger: of a PostgreSQL server, if `where` is such an address, or else in the file of that name.
///
/// Throws: as PostgresLedger and SqliteLedger; Error of kind unsupported, if this build has no PostgreSQL; of kind
///         bad_argument for an address of NATS ("nats://..."), which keeps no ledger (NatsClaims).
std::unique_ptr<Ledger> open_ledger(std::string const& where, LedgerOptions options = {});

}  // namespace penstock
