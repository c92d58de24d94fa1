// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lease/postgres/postgres_session.hpp"

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// An owner. Two that have one number, on a server and on one that took over from it, differ in their tokens.
struct PostgresOwnerKey {
  std::int32_t id = 0;
  std::int64_t token = 0;
};

/// The rows of leases: what settles them, and what is taken next.
///
/// Threads: one at a time, in PostgresSession::run.
class PostgresLeases {
 public:
  explicit PostgresLeases(PostgresSession const& session) : session_(session) {}

  /// Sends the change that settles a lease, if the owner has it by this try. It changes a row, or none.
  void send(PostgresConnection& connection, PostgresOwnerKey owner, Settlement const& settlement) const;
  /// The reason why that changed none. Empty, if this very settlement had taken effect before, and `is_unsure`.
  std::string refusal_of(PostgresConnection& connection, std::int64_t token, Settlement const& settlement,
                         bool is_unsure) const;
  /// Makes ready what owners had that are gone. Then hands out what LeaseOwner::exchange says, and records the tries.
  std::vector<Lease> take(PostgresConnection& connection, std::int32_t owner, std::size_t most) const;
  /// Makes sure that what was committed is on the server's disk.
  static void write_to_disk(PostgresConnection& connection);
  /// True, if the ledger is closed, and nothing is ready or out.
  static bool are_finished(PostgresConnection& connection);
  /// Gives back all that the owner has but these tries, and charges nothing.
  ///
  /// Shape: `numbers` and `tries` are arrays in the words of the server.
  static void send_give_back(PostgresConnection& connection, std::int32_t owner, std::string const& numbers,
                             std::string const& tries);

 private:
  PostgresSession const& session_;
};

}  // namespace penstock
