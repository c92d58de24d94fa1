// SPDX-License-Identifier: Apache-2.0
#include "lease/sqlite_connection.hpp"

#include <cerrno>
#include <cstddef>
#include <utility>

#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"
#include "penstock/lease/ledger.hpp"

namespace penstock {
namespace {

/// Time for which a lock of another program is waited for. Penstock's own processes take turns.
constexpr int longest_wait_ms = 1000;

bool is_no_room(int system_error) {
  return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}

/// Number of the system's last error. Where a commit fails, SQLite loses it, and the file that was written has it.
int system_error_of(sqlite3* handle) {
  int error = sqlite3_system_errno(handle);
  for (int const which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(handle, "main", which, &file) != SQLITE_OK || file == nullptr || file->pMethods == nullptr)
      continue;
    int of_file = 0;
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &of_file);
    if (error == 0 || is_no_room(of_file)) error = of_file;
  }
  return error;
}

/// What the code means for a ledger, behind its name. Empty if SQLite's own words must do.
std::string sentence_for(int code, int system_error) {
  if ((code & 0xff) == SQLITE_IOERR && is_no_room(system_error)) code = SQLITE_FULL;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return " finds no room on its disk. Nothing was changed: free some space, and go on.";
    case SQLITE_READONLY:
      return " can be read but not written. Make the file and its folder writable for this user, or copy it to a "
             "folder "
             "that is.";
    case SQLITE_NOTADB:
      return " is no ledger. Name another file.";
    case SQLITE_CORRUPT:
      return " is damaged. Go on with a copy that was made before, or save what is left: sqlite3 FILE .recover | "
             "sqlite3 "
             "NEW_FILE.";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return " is locked by a program that is not of penstock, such as sqlite3. Nothing was changed: end that program, "
             "and go on.";
    default:
      return {};
  }
}

}  // namespace

SqliteConnection::SqliteConnection(std::string const& path, std::string name, int flags) : name_(std::move(name)) {
  int const code = sqlite3_open_v2(path.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(handle_, longest_wait_ms);
    return;
  }
  try {
    refuse(code);
  } catch (...) {
    sqlite3_close(handle_);  // There is a handle also where it could not be opened.
    throw;
  }
}

SqliteConnection::~SqliteConnection() {
  sqlite3_close(handle_);
}

void SqliteConnection::run(char const* statements) {
  int const code = sqlite3_exec(handle_, statements, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) refuse(code);
}

void SqliteConnection::refuse(int code) const {
  if (handle_ == nullptr || code == SQLITE_NOMEM) throw Error(ErrorKind::out_of_memory, "Out of memory.");
  int const system_error = system_error_of(handle_);
  std::string const sentence = sentence_for(code, system_error);
  if (!sentence.empty()) {
    int const kind_of_code = code & 0xff;
    bool const for_now = kind_of_code == SQLITE_FULL || kind_of_code == SQLITE_BUSY || kind_of_code == SQLITE_LOCKED ||
                         kind_of_code == SQLITE_IOERR;
    if (for_now) throw LedgerUnavailable(name_ + sentence);
    ErrorKind const kind = (code & 0xff) == SQLITE_NOTADB ? ErrorKind::bad_argument : ErrorKind::system;
    throw Error(kind, name_ + sentence);
  }
  // Of other codes the number is that of an earlier call.
  bool const of_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  std::string why = sqlite3_errmsg(handle_);
  if (of_system && system_error != 0) why += ": " + system_problem(system_error);
  throw Error(ErrorKind::system, name_ + " cannot be used: " + why +
                                     ". Name a file in a folder of a local disk that this user can write to.");
}

SqliteStatement::SqliteStatement(SqliteConnection& connection, std::string const& text) : connection_(connection) {
  check(sqlite3_prepare_v3(connection.handle(), text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &handle_, nullptr));
}

bool SqliteStatement::next() {
  int const code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  // A statement that is left in the middle would keep its transaction open.
  sqlite3_reset(handle_);
  if (code != SQLITE_DONE) connection_.refuse(code);
  return false;
}

std::string SqliteStatement::text(int column) const {
  // The size is asked behind the text, which may convert it.
  auto const* const first = static_cast<char const*>(sqlite3_column_blob(handle_, column));
  auto const bytes = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return first == nullptr ? std::string() : std::string(first, bytes);
}

void SqliteStatement::bind(int at, std::string_view text) {
  // A text without a place would count as none.
  char const* const first = text.data() == nullptr ? "" : text.data();
  check(sqlite3_bind_text64(handle_, at, first, text.size(), nullptr, SQLITE_UTF8));
}

}  // namespace penstock
