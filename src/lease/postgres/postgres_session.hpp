// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "lease/postgres/postgres_address.hpp"
#include "lease/postgres/postgres_connection.hpp"
#include "lease/postgres/postgres_tables.hpp"

#include "engine/core/own_process.hpp"
#include "penstock/lease/ledger.hpp"

namespace penstock {

/// A connection to a ledger that is made anew where it was lost.
///
/// Threads: any.
class PostgresSession {
 public:
  using Body = std::function<void(PostgresConnection&)>;

  /// Connects. `on_connect` is called for each connection but this one, before anything else.
  ///
  /// Throws: as PostgresLedger's constructor.
  PostgresSession(PostgresAddress const& address, LedgerOptions options);
  PostgresSession(PostgresSession const&) = delete;
  PostgresSession& operator=(PostgresSession const&) = delete;

  /// Calls `body` with the connection. Where that was lost, or the server ended the transaction, it is called again: it
  /// must know what it had done.
  ///
  /// Blocks: for the body; where that fails, for two seconds more and the body again, at least once.
  /// Throws: LedgerUnavailable, if the server does not come back in that time; Error, if this is a child of fork; as
  ///         `body`.
  void run(Body const& body);
  /// Throws: Error of kind bad_argument, if this is a child of fork.
  void expect_own_process() const;
  /// Calls this for each new connection, from now on. What it throws fails the connection.
  void on_connect(Body body) { on_connect_ = std::move(body); }
  /// Makes a connection anew that was lost, if no other thread is at it. What fails is tried again with the next call.
  void look() noexcept;
  /// The time, as a value for `clock` in statements: nothing, if the server's counts.
  PostgresValue clock() const;

  PostgresAddress const& address() const noexcept { return address_; }
  LedgerOptions const& options() const noexcept { return options_; }
  PostgresLedgerFacts const& facts() const noexcept { return facts_; }

  OwnProcess const process;

 private:
  void connect();

  PostgresAddress const address_;
  LedgerOptions const options_;
  Body on_connect_;
  std::mutex mutex_;
  std::condition_variable again_;
  std::unique_ptr<PostgresConnection> connection_;
  PostgresLedgerFacts facts_;
};

}  // namespace penstock
