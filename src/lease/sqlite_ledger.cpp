// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/sqlite_ledger.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <utility>

#include "lease/ledger_store.hpp"
#include "lease/sqlite_owner.hpp"
#include <fcntl.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/failure_text.hpp"

namespace penstock {
namespace {

/// The value of a statement without rows is 0.
SqliteNumber value_of(SqliteConnection& connection, char const* text) {
  SqliteStatement statement(connection, text);
  return statement.next() ? statement.number(0) : 0;
}

std::uint64_t count_of(SqliteConnection& connection, char const* text) {
  return static_cast<std::uint64_t>(value_of(connection, text));
}

/// The time since then. If that was before the machine was started last, it is some time up to that since the start.
std::chrono::milliseconds age(std::chrono::nanoseconds now, SqliteNumber since) {
  auto const nanoseconds = now.count() >= since ? now.count() - since : now.count();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(nanoseconds));
}

/// A number or a count as the file can have it.
SqliteNumber as_number(std::uint64_t number) {
  return static_cast<SqliteNumber>(std::min<std::uint64_t>(number, std::numeric_limits<SqliteNumber>::max()));
}

/// A file that is removed if it is there.
struct UnfinishedCopy {
  std::string const path;
  explicit UnfinishedCopy(std::string name) : path(std::move(name)) { unlink(path.c_str()); }
  UnfinishedCopy(UnfinishedCopy const&) = delete;
  UnfinishedCopy& operator=(UnfinishedCopy const&) = delete;
  ~UnfinishedCopy() {
    unlink(path.c_str());
    unlink((path + "-journal").c_str());
  }
};

/// Makes sure that a file or a folder is on the disk. False if the system refuses; errno says why.
bool is_on_disk(std::string const& path) {
  Descriptor const file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.number >= 0 && fsync(file.number) == 0;
}

}  // namespace

SqliteLedger::SqliteLedger(std::string const& path, LedgerOptions options)
    : store_(LedgerStore::open(path, std::move(options))) {}

SqliteLedger::~SqliteLedger() = default;

bool SqliteLedger::enqueue(std::span<LeaseWork const> work, bool last) {
  SqliteConnection& connection = store_->file.connection();
  LedgerSession const session(store_->file);
  SqliteTransaction transaction(connection);
  if (store_->is_closed()) return false;
  for (LeaseWork const& one : work) store_->leases.enqueue(one);
  if (last) connection.run("update ledger set closed = 1");
  transaction.commit();
  return true;
}

std::unique_ptr<LeaseOwner> SqliteLedger::join(OwnerOptions options) {
  return std::make_unique<SqliteOwner>(store_, options);
}

LedgerProgress SqliteLedger::progress() {
  SqliteConnection& connection = store_->file.connection();
  LedgerSession const session(store_->file);
  LedgerProgress progress{
      .leases = count_of(connection, "select coalesce(max(number), 0) from lease"),
      .ready = count_of(connection, "select count(*) from lease where state = 0"),
      .out = count_of(connection, "select count(*) from lease where state = 1"),
      .parked = count_of(connection, "select count(*) from lease where state = 3"),
      .suspects = count_of(connection, "select count(*) from lease where state = 0 and suspect = 1"),
      .owners = count_of(connection, "select count(*) from owner"),
      .retries = count_of(connection, "select coalesce(sum(tries - 1), 0) from lease where tries > 1"),
      .closed = store_->is_closed(),
      .at = store_->file.now()};
  progress.done = progress.leases - progress.ready - progress.out - progress.parked;
  SqliteStatement had(connection, "select count(*) from lease where state = 1 and owner = ?1");
  for (OwnerWatch::Gone const& gone : store_->watch.look()) {
    --progress.owners;
    if (had.with(gone.id).next()) progress.lost += static_cast<std::uint64_t>(had.number(0));
  }
  had.with();
  if (progress.out != 0)
    progress.oldest_out = age(progress.at, value_of(connection, "select min(since) from lease where state = 1"));
  if (progress.ready != 0)
    progress.oldest_ready = age(progress.at, value_of(connection,
                                                      "select enqueued from work where number ="
                                                      " (select min(number) from lease where state = 0)"));
  return progress;
}

std::vector<ParkedLease> SqliteLedger::parked(std::uint64_t after, std::size_t most) {
  std::vector<ParkedLease> parked;
  LedgerSession const session(store_->file);
  SqliteStatement rows(store_->file.connection(),
                       "select number, tries, reason, path, offset, length, checksum, payload"
                       " from lease join work using(number) where state = 3 and number > ?1 order by number limit ?2");
  for (rows.with(as_number(after), as_number(most)); rows.next();) {
    parked.push_back({.number = static_cast<std::uint64_t>(rows.number(0)),
                      .tries = static_cast<std::uint32_t>(rows.number(1)),
                      .reason = rows.text(2),
                      .work = {.path = rows.text(3),
                               .offset = static_cast<std::uint64_t>(rows.number(4)),
                               .length = static_cast<std::uint64_t>(rows.number(5)),
                               .checksum = rows.text(6),
                               .payload = rows.text(7)}});
  }
  return parked;
}

bool SqliteLedger::unpark(std::uint64_t number) {
  SqliteConnection& connection = store_->file.connection();
  LedgerSession const session(store_->file);
  SqliteTransaction transaction(connection);
  SqliteStatement(connection, "update lease set state = 0, charged = 0, not_before = 0 where number = ?1 and state = 3")
      .run(as_number(number));
  bool const was_parked = connection.changes() == 1;
  transaction.commit();
  return was_parked;
}

std::vector<LeaseAnswer> SqliteLedger::answers(std::uint64_t after, std::size_t most) {
  std::vector<LeaseAnswer> answers;
  LedgerSession const session(store_->file);
  SqliteStatement rows(store_->file.connection(),
                       "select number, answer from lease where state = 2 and number > ?1 order by number limit ?2");
  for (rows.with(as_number(after), as_number(most)); rows.next();)
    answers.push_back({static_cast<std::uint64_t>(rows.number(0)), rows.text(1)});
  return answers;
}

void SqliteLedger::copy_to(std::string const& path) {
  std::error_code problem;
  if (std::filesystem::exists(path, problem))
    throw Error(ErrorKind::bad_argument, path + " is there already. Name another file for the copy, or remove it.");
  LedgerSession const session(store_->file);
  // No part of a copy has the name of the whole.
  UnfinishedCopy const part(path + "-part-" + std::to_string(getpid()));
  SqliteStatement(store_->file.connection(), "vacuum into ?1").run(std::string_view(part.path));
  std::string const folder = std::filesystem::absolute(path).parent_path();
  // SQLite leaves the copy in the page cache. A link, unlike a new name, replaces no file that came meanwhile.
  if (!is_on_disk(part.path) || link(part.path.c_str(), path.c_str()) != 0 || !is_on_disk(folder))
    throw Error(ErrorKind::system,
                path + " could not be written to the disk: " + system_problem(errno) + ". Copy to another name.");
}

}  // namespace penstock
