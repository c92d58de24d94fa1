// SPDX-License-Identifier: Apache-2.0
#include "lease/sqlite_owner.hpp"

#include <cerrno>
#include <chrono>
#include <exception>
#include <utility>

#include <unistd.h>

#include "engine/core/between_processes.hpp"
#include "engine/core/failure_text.hpp"
#include "engine/core/say.hpp"
#include "penstock/error.hpp"

namespace penstock {

SqliteOwner::SqliteOwner(std::shared_ptr<LedgerStore> store, OwnerOptions options)
    : store_(std::move(store)),
      silence_(std::chrono::nanoseconds(options.silence).count()),
      lock_(store_->file.place().open_locks()) {
  LedgerFile& file = store_->file;
  LedgerSession const session(file);
  SqliteTransaction transaction(file.connection());
  SqliteStatement(file.connection(), "insert into owner(process, heard, silence) values(?1, ?2, ?3)")
      .run(getpid(), file.now().count(), silence_);
  id_ = file.connection().last_row();
  noted_ = file.now();
  // The lock comes first: a row without one means that its process has ended.
  if (!lock_byte(lock_.number, static_cast<std::size_t>(id_)))
    throw Error(ErrorKind::system, file.place().name() + " cannot have a lock for a process: " + system_problem(errno) +
                                       ". Put it on a local disk.");
  transaction.commit();
}

SqliteOwner::~SqliteOwner() {
  if (!store_->process.is_current()) return;
  try {
    LedgerFile& file = store_->file;
    LedgerSession const session(file);
    SqliteTransaction transaction(file.connection());
    store_->leases.give_back_all(id_);
    SqliteStatement(file.connection(), "delete from owner where id = ?1").run(id_);
    transaction.commit();
  } catch (std::exception const& failure) {
    // Its lock ends with it, so others get the leases all the same, as suspects.
    say("%s", failure.what());
  }
}

Exchange SqliteOwner::exchange(std::span<Settlement const> settlements, std::size_t most) {
  LedgerFile& file = store_->file;
  Exchange result;
  LedgerSession const session(file);
  SqliteTransaction transaction(file.connection());
  // A transaction that changes nothing writes nothing, so an owner that only asks is not noted. Without a promise only
  // its lock counts.
  bool const is_noted = silence_ != 0 && (!settlements.empty() || store_->leases.any_out_to(id_) || is_note_due());
  if (is_noted) note();
  for (std::size_t k = 0; k < settlements.size(); ++k) {
    std::string reason = store_->leases.settle(id_, settlements[k]);
    if (!reason.empty()) result.refused.push_back({k, std::move(reason)});
  }
  store_->watch.let_go(store_->watch.look());
  result.taken = store_->leases.take(id_, most);
  // It may have been let go while it had none.
  if (silence_ != 0 && !is_noted && !result.taken.empty()) note();
  result.finished = result.taken.empty() && store_->is_closed() && !store_->leases.any_ready_or_out();
  transaction.commit();
  return result;
}

bool SqliteOwner::is_note_due() const {
  return (store_->file.now() - noted_).count() > silence_ / 2;
}

void SqliteOwner::note() {
  store_->watch.note(id_, silence_);
  noted_ = store_->file.now();
}

void SqliteOwner::keep_alive() {
  LedgerFile& file = store_->file;
  LedgerSession const session(file);
  SqliteTransaction transaction(file.connection());
  note();
  transaction.commit();
}

}  // namespace penstock
