// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace penstock {

/// Number of a row or a count, as SQLite has them.
using SqliteNumber = sqlite3_int64;

/// An open database. Where it refuses something, it says so with the remedy.
///
/// It waits a second for the locks of other programs: the caller makes sure that no other of its kind works on the file
/// meanwhile.
///
/// Threads: one at a time.
class SqliteConnection {
 public:
  /// Shape:  `name` is the file's, for messages; `flags` are SQLite's.
  /// Throws: as `run`.
  SqliteConnection(std::string const& path, std::string name, int flags);
  SqliteConnection(SqliteConnection const&) = delete;
  SqliteConnection& operator=(SqliteConnection const&) = delete;
  ~SqliteConnection();

  /// Runs statements that return no rows.
  ///
  /// Throws: LedgerUnavailable, if its disk is full or it is locked; Error, with a sentence about the file: it is
  ///         read-only, damaged, or no database.
  void run(char const* statements);
  /// Number of rows that the last statement changed.
  int changes() const noexcept { return sqlite3_changes(handle_); }
  /// Number of the row that was inserted last.
  SqliteNumber last_row() const noexcept { return sqlite3_last_insert_rowid(handle_); }
  sqlite3* handle() const noexcept { return handle_; }

  /// Throws: for this result code of SQLite, as `run`.
  [[noreturn]] void refuse(int code) const;

 private:
  sqlite3* handle_ = nullptr;
  std::string const name_;
};

/// A prepared statement. It must die before its connection does.
///
/// Threads: one at a time.
class SqliteStatement {
 public:
  /// Throws: as SqliteConnection::run.
  SqliteStatement(SqliteConnection& connection, std::string const& text);
  SqliteStatement(SqliteStatement const&) = delete;
  SqliteStatement& operator=(SqliteStatement const&) = delete;
  ~SqliteStatement() { sqlite3_finalize(handle_); }

  /// Begins anew, with these values for ?1, ?2 ...: numbers, texts, or nullptr for none. Texts must stay until the last
  /// row.
  template <class... Values>
  SqliteStatement& with(Values const&... values) {
    sqlite3_reset(handle_);
    int at = 0;
    (bind(++at, values), ...);
    return *this;
  }
  /// Goes to the next row; false if there is none.
  ///
  /// Throws: as SqliteConnection::run.
  bool next();
  /// Runs all of it with these values.
  template <class... Values>
  void run(Values const&... values) {
    with(values...);
    while (next()) continue;
  }

  /// A column of the row, counted from 0.
  SqliteNumber number(int column) const noexcept { return sqlite3_column_int64(handle_, column); }
  bool is_null(int column) const noexcept { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
  std::string text(int column) const;

 private:
  template <std::integral Number>
  void bind(int at, Number value) {
    check(sqlite3_bind_int64(handle_, at, static_cast<SqliteNumber>(value)));
  }
  void bind(int at, std::string_view text);
  void bind(int at, std::nullptr_t) { check(sqlite3_bind_null(handle_, at)); }
  void check(int code) const {
    if (code != SQLITE_OK) connection_.refuse(code);
  }

  SqliteConnection& connection_;
  sqlite3_stmt* handle_ = nullptr;
};

/// All changes between its birth and `commit`, or none of them.
///
/// Threads: one at a time.
class SqliteTransaction {
 public:
  /// Throws: as SqliteConnection::run.
  explicit SqliteTransaction(SqliteConnection& connection) : connection_(connection) {
    connection_.run("begin immediate");
  }
  SqliteTransaction(SqliteTransaction const&) = delete;
  SqliteTransaction& operator=(SqliteTransaction const&) = delete;
  ~SqliteTransaction() {
    // SQLite may have ended it by itself, for instance where the disk is full.
    if (!committed_) sqlite3_exec(connection_.handle(), "rollback", nullptr, nullptr, nullptr);
  }

  /// Blocks: until all is on the disk.
  /// Throws: as SqliteConnection::run.
  void commit() {
    connection_.run("commit");
    committed_ = true;
  }

 private:
  SqliteConnection& connection_;
  bool committed_ = false;
};

}  // namespace penstock
