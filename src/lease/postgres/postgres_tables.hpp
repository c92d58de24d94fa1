// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lease/postgres/postgres_connection.hpp"

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// What was decided when a ledger was made, and what tells it from others of its database.
struct PostgresLedgerFacts {
  std::uint32_t id = 0;  ///< The number of its first table. It is the first half of the locks of its owners.
  std::uint32_t most_tries = 0;
  /// The same as a number of SQL, which has a sign.
  std::int32_t lock_class() const noexcept { return static_cast<std::int32_t>(id); }
};

/// The form of the tables. Ledgers with another number are refused.
inline constexpr int postgres_ledger_version = 3;

/// Opens the ledger in the schema of that name, or makes it, as the options say.
///
/// Throws: Error, if it is of another version, purpose or program, or not there, or this user may not do that; else as
///         PostgresConnection.
PostgresLedgerFacts open_postgres_tables(PostgresConnection& connection, PostgresAddress const& address,
                                         LedgerOptions const& options);

}  // namespace penstock
