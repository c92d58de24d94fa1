// SPDX-License-Identifier: Apache-2.0
// Mistakes in the ledger's statements. The linker leads SQLite's calls that take statements to the functions here.
#include "lease/simulation/mistakes.hpp"

#include <array>
#include <string>

#include <sqlite3.h>

namespace penstock::simulation {
namespace {

constexpr std::array mistakes{
    Mistake{"any_try", " and owner = ?2 and tries = ?3 and state = 1", " and owner = ?2 and ?3 = ?3 and state = 1"},
    Mistake{"any_owner_and_try", " and owner = ?2 and tries = ?3 and state = 1",
            " and ?2 = ?2 and ?3 = ?3 and state = 1"},
    Mistake{"any_state", " and owner = ?2 and tries = ?3 and state = 1", " and owner = ?2 and tries = ?3"},
    Mistake{"no_answer", "answer = ?4", "answer = null and ?4"},
    Mistake{"try_not_counted", "tries = tries + 1", "tries = tries"},
    Mistake{"try_not_charged", "charged = charged + 1", "charged = charged"},
    Mistake{"given_back_is_charged", "state = 0, charged = charged - 1, owner = null, since = null where number",
            "state = 0, owner = null, since = null where number"},
    Mistake{"leaving_is_charged", "state = 0, charged = charged - 1, owner = null, since = null where owner",
            "state = 0, owner = null, since = null where owner"},
    Mistake{"failure_parks_early", "case when charged >= ?5", "case when charged + 1 >= ?5"},
    Mistake{"failure_never_parks", "case when charged >= ?5 then 3", "case when charged >= ?5 then 0"},
    Mistake{"parked_is_ready", "state = 3, suspect = 0, owner", "state = 0, suspect = 0, owner"},
    Mistake{"death_parks_early", "case when charged >= ?2", "case when charged + 1 >= ?2"},
    Mistake{"death_never_parks", "case when charged >= ?2 then 3", "case when charged >= ?2 then 0"},
    Mistake{"death_makes_no_suspect", "suspect = charged < ?2", "suspect = 0"},
    Mistake{"death_returns_answered", "reason = ?3 where owner = ?1 and state = 1", "reason = ?3 where owner = ?1"},
    Mistake{"death_returns_nothing", "reason = ?3 where owner = ?1 and state = 1",
            "reason = ?3 where owner = ?1 and state = 4"},
    Mistake{"owner_never_forgotten", "delete from owner where id = ?1 and heard = ?2",
            "delete from owner where id = ?1 and heard < ?2"},
    Mistake{"silence_counts_from_join", "heard = excluded.heard", "heard = heard"},
    Mistake{"suspects_in_batches", "where state = 0 and suspect = 0 and not", "where state = 0 and not"},
    Mistake{"more_beside_a_suspect", "coalesce(max(suspect), 0)", "0"},
    Mistake{"no_rest", "and suspect = 0 and not (not_before > ?2 and not_before <= ?3)",
            "and suspect = 0 and ?2 = ?2 and ?3 = ?3"},
    Mistake{"finished_while_out", " or exists(select 1 from lease where state = 1)", ""},
    Mistake{"finished_with_work", "exists(select 1 from lease where state = 0) or ", ""},
    Mistake{"always_closed", "select closed from ledger", "select 1 from ledger"},
    Mistake{"unpark_keeps_charges", "state = 0, charged = 0, not_before = 0", "state = 0, not_before = 0"},
    Mistake{"unpark_of_anything", "where number = ?1 and state = 3", "where number = ?1"},
    Mistake{"not_synchronised", "pragma synchronous = full", "pragma synchronous = off"},
    Mistake{"synchronised_late", "pragma synchronous = full", "pragma synchronous = normal"},
};

Mistake const* now = nullptr;
bool made = false;

/// The statement as it is made.
std::string made_of(char const* statement) {
  std::string text(statement);
  if (now == nullptr) return text;
  for (std::size_t at = 0; (at = text.find(now->right, at)) != std::string::npos; at += now->wrong.size()) {
    text.replace(at, now->right.size(), now->wrong);
    made = true;
  }
  return text;
}

}  // namespace

std::span<Mistake const> all_mistakes() {
  return mistakes;
}

void make_mistake(Mistake const* mistake) {
  now = mistake;
  made = false;
}

bool mistake_was_made() {
  return made;
}

extern "C" {

// The linker's names.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
int __real_sqlite3_prepare_v3(sqlite3*, char const*, int, unsigned, sqlite3_stmt**, char const**);
int __real_sqlite3_exec(sqlite3*, char const*, int (*)(void*, int, char**, char**), void*, char**);

int __wrap_sqlite3_prepare_v3(sqlite3* database, char const* text, int, unsigned flags, sqlite3_stmt** statement,
                              char const** rest) {
  return __real_sqlite3_prepare_v3(database, made_of(text).c_str(), -1, flags, statement, rest);
}

int __wrap_sqlite3_exec(sqlite3* database, char const* text, int (*row)(void*, int, char**, char**), void* argument,
                        char** problem) {
  return __real_sqlite3_exec(database, made_of(text).c_str(), row, argument, problem);
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)

}  // extern "C"

}  // namespace penstock::simulation
