// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "lease/postgres/postgres_leases.hpp"
#include "lease/postgres/postgres_session.hpp"

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// An owner of leases in PostgreSQL. Its session holds a lock that the server drops with the session.
///
/// A thread, "ps-pg-lock", looks each second whether the session is there, and makes it anew where it was lost: after a
/// crash of the server the owner has its lock again before others may take it for dead.
///
/// Threads: any.
class PostgresOwner final : public LeaseOwner {
 public:
  /// Throws: as Ledger::join.
  PostgresOwner(PostgresAddress const& address, LedgerOptions const& options, OwnerOptions const& owner);
  PostgresOwner(PostgresOwner const&) = delete;
  PostgresOwner& operator=(PostgresOwner const&) = delete;
  ~PostgresOwner() override;

  Exchange exchange(std::span<Settlement const> settlements, std::size_t most) override;
  void keep_alive() override;

 private:
  using Said = std::tuple<std::uint64_t, std::uint32_t, Settlement::Kind>;
  struct Parts {
    Parts(PostgresAddress const& address, LedgerOptions const& options, OwnerOptions const& owner);

    void join(PostgresConnection& connection);
    void rejoin(PostgresConnection& connection);
    /// A server that took over, and did not have this owner, may have given its number to another.
    bool is_taken(PostgresConnection& connection) const;
    void join_anew(PostgresConnection& connection);
    void leave(PostgresConnection& connection) const;
    void note(PostgresConnection& connection) const;
    /// Settles in a transaction of its own, and says which settlements changed nothing. It is on the disk when this
    /// returns, if it is the last one; else together with the next.
    void settle(PostgresConnection& connection, std::span<Settlement const> settlements, bool is_last,
                Exchange& result);
    /// It no longer holds this try.
    void forget(Settlement const& settled);
    static Said said(Settlement const& one) { return {one.number, one.tries, one.kind}; }

    PostgresSession session;
    PostgresLeases const leases{session};
    OwnProcess const process;
    std::int64_t const silence;
    std::string const name;    ///< Of the process, for others.
    std::int64_t const token;  ///< Tells it from an owner that has its number on a server that took over.
    std::mutex mutex;          ///< For one exchange at a time.
    std::int32_t id = 0;
    int server_process = 0;  ///< That of the last session.
    /// Tries of leases that the caller was given and has not settled.
    std::map<std::uint64_t, std::uint32_t> held = {};
    /// Settlements that may have taken effect, of which the caller was not told.
    std::set<Said> unsure = {};
    std::jthread watch = {};
  };
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
