// SPDX-License-Identifier: Apache-2.0
#include "lease/owner_watch.hpp"

#include <cstddef>

#include <unistd.h>

#include "engine/core/between_processes.hpp"
#include "engine/core/number_text.hpp"

namespace penstock {

OwnerWatch::OwnerWatch(LedgerFile& file, LeaseTable& leases)
    : file_(file),
      leases_(leases),
      note_(file.connection(),
            "insert into owner(id, process, heard, silence) values(?1, ?2, ?3, ?4)"
            " on conflict(id) do update set heard = excluded.heard"),
      owners_(file.connection(), "select id, process, heard, silence from owner"),
      forget_(file.connection(), "delete from owner where id = ?1 and heard = ?2") {}

void OwnerWatch::note(SqliteNumber id, SqliteNumber silence) {
  note_.run(id, getpid(), file_.now().count(), silence);
}

std::vector<OwnerWatch::Gone> OwnerWatch::look() {
  std::vector<Gone> gone;
  SqliteNumber const now = file_.now().count();
  for (owners_.with(); owners_.next();) {
    SqliteNumber const id = owners_.number(0), heard = owners_.number(2), silence = owners_.number(3);
    std::string const owner = "the process that had it (" + std::to_string(owners_.number(1)) + ")";
    // An owner holds its byte from before it was written here until it ends, and its number is never given again.
    if (!is_byte_locked(file_.place().locks(), static_cast<std::size_t>(id))) {
      gone.push_back({id, heard, owner + " ended without giving it back."});
    } else if (silence != 0 && now - heard > silence) {
      gone.push_back(
          {id, heard, owner + " was not heard from for " + seconds_text(static_cast<double>(now - heard) / 1e9) + "."});
    }
  }
  return gone;
}

void OwnerWatch::let_go(std::vector<Gone> const& gone) {
  for (Gone const& one : gone) {
    forget_.run(one.id, one.heard);
    if (file_.connection().changes() != 0) leases_.return_all(one.id, one.reason);
  }
}

}  // namespace penstock
