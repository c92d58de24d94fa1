// SPDX-License-Identifier: Apache-2.0
#include "lease/ledger_file.hpp"

#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// "PSLG", which says in the file's head that it is a ledger.
constexpr SqliteNumber application = 0x50534C47;

// The work of a lease never changes, and may be large; what changes is in a row of its own. A ready suspect may have an
// owner: the one that gets it next.
constexpr char const* tables =
    "create table ledger(purpose text not null, most_tries integer not null, closed integer not null);"
    "create table owner(id integer primary key autoincrement, process integer not null, heard integer not null,"
    " silence integer not null);"
    "create table work(number integer primary key, enqueued integer not null, path text not null,"
    " offset integer not null, length integer not null, checksum text not null, payload text not null);"
    "create table lease(number integer primary key, state integer not null default 0, tries integer not null default 0,"
    " charged integer not null default 0, suspect integer not null default 0, owner integer, since integer,"
    " not_before integer not null default 0, reason text, answer text);"
    "create index lease_ready on lease(suspect, number) where state = 0;"
    "create index lease_out on lease(owner) where state = 1;"
    "create index lease_parked on lease(number) where state = 3;"
    "create index lease_tried_again on lease(tries) where tries > 1;";

std::chrono::nanoseconds boot_time() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::string const& expect_wanted(std::string const& path, LedgerOpening opening) {
  std::error_code problem;
  bool const there = std::filesystem::exists(path, problem);
  if (!there && opening == LedgerOpening::existing)
    throw Error(ErrorKind::bad_argument, path + ": there is no such ledger. Name one that is there.");
  if (there && opening == LedgerOpening::fresh)
    throw Error(ErrorKind::bad_argument, path + " is there already. Name another file, or remove it.");
  return path;
}

SqliteNumber one_number(SqliteConnection& connection, char const* text) {
  SqliteStatement statement(connection, text);
  return statement.next() ? statement.number(0) : 0;
}

}  // namespace

LedgerFile::LedgerFile(std::string const& path, LedgerOptions options)
    : place_(expect_wanted(path, options.opening)),
      clock_(options.clock != nullptr ? std::move(options.clock) : std::function(boot_time)) {
  if (options.most_tries == 0)
    throw Error(ErrorKind::bad_argument, "A ledger with most_tries = 0 would park all leases. Name 1 or more.");
  LedgerTurn const turn(place_);
  expect_wanted(place_.path(), options.opening);  // Another process may have made it, or removed it, meanwhile.
  try {
    open(options);
  } catch (...) {
    connection_.reset();  // The turn ends only after this.
    throw;
  }
}

void LedgerFile::open(LedgerOptions const& options) {
  bool const is_new = !place_.holds_something();
  connection_ =
      std::make_unique<SqliteConnection>(place_.path(), place_.name(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  // The file is known by its head before anything is written to it.
  SqliteNumber const kind = is_new ? application : one_number(*connection_, "pragma application_id");
  SqliteNumber const form = is_new ? version : one_number(*connection_, "pragma user_version");
  bool const empty = one_number(*connection_, "select count(*) from sqlite_schema") == 0;
  if (!empty && kind != application)
    throw Error(ErrorKind::bad_argument, place_.name() + " is the database of another program. Name another file.");
  if (!empty && form != version)
    throw Error(ErrorKind::bad_argument, place_.name() + " is a ledger of version " + std::to_string(form) +
                                             ", and this is penstock for version " + std::to_string(version) +
                                             ". Use the penstock that made it, or begin a new ledger.");
  SqliteStatement log(*connection_, "pragma journal_mode = wal");
  if (!log.next() || log.text(0) != "wal")
    throw Error(ErrorKind::system, place_.name() + " cannot have a write-ahead log here. Put it on a local disk.");
  log.with();
  connection_->run("pragma synchronous = full");
  if (empty) make(options);
  read(options);
  place_.note_file();
}

LedgerFile::~LedgerFile() {
  try {
    // The last process that closes it moves the log into the file.
    LedgerTurn const turn(place_);
    connection_.reset();
  } catch (Error const&) {
    connection_.reset();
  }
}

void LedgerFile::make(LedgerOptions const& options) {
  SqliteTransaction transaction(*connection_);
  connection_->run(tables);
  connection_->run(("pragma application_id = " + std::to_string(application)).c_str());
  connection_->run(("pragma user_version = " + std::to_string(version)).c_str());
  SqliteStatement(*connection_, "insert into ledger values(?1, ?2, 0)").run(options.purpose, options.most_tries);
  transaction.commit();
}

void LedgerFile::read(LedgerOptions const& options) {
  SqliteStatement statement(*connection_, "select purpose, most_tries from ledger");
  if (!statement.next()) throw Error(ErrorKind::system, place_.name() + " is damaged. Go on with a copy of it.");
  std::string const purpose = statement.text(0);
  most_tries_ = static_cast<std::uint32_t>(statement.number(1));
  if (options.purpose.empty() || options.purpose == purpose) return;
  throw Error(ErrorKind::bad_argument, place_.name() + " is the ledger of other work (" + purpose + "), not of this (" +
                                           options.purpose + "). Name another file.");
}

bool LedgerSession::expect_own(LedgerFile const& file) {
  if (file.process.is_current()) return true;
  throw Error(ErrorKind::bad_argument, "A child of fork cannot use its parent's ledger " + file.place().name() +
                                           ". Open the ledger behind the fork, in a program that was started by exec.");
}

}  // namespace penstock
