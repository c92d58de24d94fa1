// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/open_ledger.hpp"

#include <utility>

#include "penstock/error.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#ifdef PENSTOCK_WITH_POSTGRES
#include "penstock/lease/postgres_ledger.hpp"
#endif

namespace penstock {

std::unique_ptr<Ledger> open_ledger(std::string const& where, LedgerOptions options) {
  if (where.starts_with("nats://"))
    throw Error(
        ErrorKind::bad_argument,
        "NATS keeps no ledger: it hands out a message at least once, keeps no answers, and may forget what it "
        "confirmed when the power fails. Name a file, or a PostgreSQL server; NatsClaims takes messages of NATS "
        "as work, at least once.");
  if (!is_postgres_address(where)) return std::make_unique<SqliteLedger>(where, std::move(options));
#ifdef PENSTOCK_WITH_POSTGRES
  return std::make_unique<PostgresLedger>(where, std::move(options));
#else
  throw Error(ErrorKind::unsupported,
              "This build has no ledgers in PostgreSQL, as its library was not there: install libpq-dev, and build "
              "penstock again; or name a file.");
#endif
}

}  // namespace penstock
