// SPDX-License-Identifier: Apache-2.0
#include "lease/ledger_place.hpp"

#include <csignal>
#include <cstddef>
#include <fstream>
#include <thread>

#include "lease/worker_process.hpp"
#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/between_processes.hpp"
#include "penstock/error.hpp"
#include "penstock/lease/open_ledger.hpp"
#include "penstock/lease/sqlite_ledger.hpp"

namespace penstock {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

using ALedgerPlace = support::FolderOfFiles;

/// The process is stopped while it waits, so it cannot hurry. Seen to fail where it left the queue before it had its
/// turn.
TEST_F(ALedgerPlace, KeepsTheNextTurnForTheProcessThatWaits) {
  SqliteLedger(path("ledger")).enqueue({}, true);
  support::WorkerProcess const waits({path("ledger")});
  EXPECT_EQ(waits.ask("take 0"), "taken");
  LedgerPlace const place(path("ledger"));
  constexpr std::size_t queue_byte = 0;
  {
    LedgerTurn const turn(place);
    waits.tell("take 0");
    while (!is_byte_locked(place.locks(), queue_byte)) std::this_thread::yield();
    waits.stop();
  }
  EXPECT_TRUE(is_byte_locked(place.locks(), queue_byte)) << "another would have its turn first";
  waits.send(SIGCONT);
  EXPECT_EQ(waits.hear(), "taken");
  EXPECT_FALSE(is_byte_locked(place.locks(), queue_byte));
}

/// Seen to fail where the file was looked for only before the turn.
TEST_F(ALedgerPlace, IsLookedAtOnceMoreInTheTurnOfTheProcessThatOpensIt) {
  LedgerPlace const place(path("ledger"));
  constexpr std::size_t queue_byte = 0;
  std::jthread opens;
  {
    LedgerTurn const turn(place);
    opens = std::jthread([&] { EXPECT_THROW(SqliteLedger(path("ledger"), {.opening = LedgerOpening::fresh}), Error); });
    while (!is_byte_locked(place.locks(), queue_byte)) std::this_thread::yield();
    std::ofstream(path("ledger"));
  }
}

TEST_F(ALedgerPlace, IsNotOnAFileSystemOfANetwork) {
  EXPECT_EQ(file_system_problem(0xEF53), "") << "ext4";
  EXPECT_EQ(file_system_problem(0x01021994), "") << "tmpfs";
  EXPECT_THAT(file_system_problem(0x6969), AllOf(HasSubstr("NFS"), EndsWith("Put it on a local disk.")));
  EXPECT_THAT(file_system_problem(0x19830326), HasSubstr("BeeGFS"));
  EXPECT_THAT(file_system_problem(static_cast<int>(0xFF534D42)), HasSubstr("SMB"));
}

TEST_F(ALedgerPlace, IsNotAServerThatHandsOutAtLeastOnce) {
  try {
    open_ledger("nats://127.0.0.1:4222");
    FAIL() << "it is a ledger";
  } catch (Error const& refused) {
    EXPECT_EQ(refused.kind(), ErrorKind::bad_argument);
    EXPECT_THAT(refused.what(), AllOf(HasSubstr("NATS keeps no ledger"), HasSubstr("at least once"),
                                      HasSubstr("Name a file, or a PostgreSQL server")));
  }
}

}  // namespace
}  // namespace penstock
