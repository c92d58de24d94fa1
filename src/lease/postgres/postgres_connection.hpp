// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lease/postgres/postgres_address.hpp"
#include <libpq-fe.h>

#include "engine/core/own_process.hpp"
#include "penstock/lease/ledger.hpp"

namespace penstock {

/// The server cannot be reached, or the connection was lost: what was sent last may have happened or not.
class PostgresLost : public LedgerUnavailable {
 public:
  using LedgerUnavailable::LedgerUnavailable;
};

/// The server ended a transaction because of another one. Nothing of it has happened.
class PostgresConflict : public LedgerUnavailable {
 public:
  using LedgerUnavailable::LedgerUnavailable;
};

/// A value of a statement: a number, bytes, nothing, or text in the words of the server.
class PostgresValue {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a list of values is written as one.
  PostgresValue(std::integral auto number) : text_(std::to_string(number)) {}
  PostgresValue(bool truth) : text_(truth ? "t" : "f") {}
  PostgresValue(std::nullptr_t) : is_null_(true) {}
  /// The bytes must stay until the statement is sent.
  PostgresValue(std::string_view bytes) : bytes_(bytes), is_binary_(true) {}
  // NOLINTEND(google-explicit-constructor)
  static PostgresValue in_words(std::string text) {
    PostgresValue value(nullptr);
    value.text_ = std::move(text);
    value.is_null_ = false;
    return value;
  }

  char const* data() const noexcept;
  int size() const noexcept { return static_cast<int>(is_binary_ ? bytes_.size() : text_.size()); }
  int format() const noexcept { return is_binary_ ? 1 : 0; }

 private:
  std::string text_;
  std::string_view bytes_;
  bool is_binary_ = false;
  bool is_null_ = false;
};

/// The rows of one statement.
class PostgresRows {
 public:
  explicit PostgresRows(PGresult* rows) : rows_(rows, PQclear) {}

  int size() const noexcept { return PQntuples(rows_.get()); }
  /// Number of rows that the statement changed.
  std::uint64_t changes() const;
  bool is_null(int row, int column) const noexcept { return PQgetisnull(rows_.get(), row, column) != 0; }
  /// A number or a truth; 0 for none.
  std::int64_t number(int row, int column) const noexcept;
  std::string text(int row, int column) const;
  PGresult const* handle() const noexcept { return rows_.get(); }

 private:
  std::unique_ptr<PGresult, void (*)(PGresult*)> rows_;
};

/// A session of a PostgreSQL server, with the schema of the ledger as its path. What it refuses it says with the
/// remedy.
///
/// Its settings make sure that each side sees within half a minute that the machine of the other is gone.
///
/// Threads: one at a time.
class PostgresConnection {
 public:
  /// Blocks: for `longest` at most.
  /// Throws: PostgresLost, if there is no server or it takes no session now; Error, if it refuses this user, is too
  ///         old, has no such database, or its certificate is not accepted.
  PostgresConnection(PostgresAddress const& address, std::chrono::milliseconds longest);
  PostgresConnection(PostgresConnection const&) = delete;
  PostgresConnection& operator=(PostgresConnection const&) = delete;
  /// A child of fork leaves the session to its parent.
  ~PostgresConnection();

  /// Runs statements, of which no result is wanted.
  ///
  /// Throws: as `finish`.
  void run(std::string const& statements);
  /// Adds a statement to those of `finish`, with values for $1, $2 ...
  ///
  /// Shape: `text` is one of a few, so that the server prepares each once.
  void send(std::string_view text, std::vector<PostgresValue> const& values = {});
  /// The results of all that was sent since the last call: they are one transaction.
  ///
  /// Blocks: until that is on the server's disk.
  /// Throws: PostgresLost, PostgresConflict, LedgerUnavailable; Error, if the user may not do that.
  std::vector<PostgresRows> finish();
  /// One statement.
  PostgresRows ask(std::string_view text, std::vector<PostgresValue> const& values = {});
  /// False if the connection is known to be lost.
  bool is_alive() noexcept;
  /// True between `send` and `finish`.
  bool is_busy() const noexcept { return !sent_.empty() || !results_.empty(); }
  /// Number of the server's process.
  int server_process() const noexcept { return PQbackendPID(handle_); }

 private:
  enum class Sent : std::uint8_t { preparation, statement };
  void connect(std::chrono::milliseconds longest);
  void set_up();
  void receive();
  [[noreturn]] void refuse_connection() const;
  [[noreturn]] void refuse(std::string const& state, std::string const& message) const;
  [[noreturn]] void refuse(PGresult const* result) const;
  [[noreturn]] void lose() const;

  OwnProcess const process_;
  PostgresAddress const& address_;
  PGconn* handle_ = nullptr;
  std::unordered_map<std::string, std::string> prepared_;  ///< Names by text.
  std::vector<std::pair<std::string, std::string>> preparing_;
  std::uint64_t last_name_ = 0;
  std::vector<Sent> sent_;  ///< Those of which no result is here.
  std::vector<PostgresRows> results_;
};

}  // namespace penstock
