// SPDX-License-Identifier: Apache-2.0
// The file of a ledger: what it refuses, how it is copied, and that nothing is lost where it cannot be written.
#include "penstock/lease/sqlite_ledger.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "lease/ledger_world.hpp"
#include "lease/worker_process.hpp"
#include "support/child_of_fork.hpp"
#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using support::numbered_work;
using support::numbers_of;
using support::settle_all;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using Kind = Settlement::Kind;

/// The text of the Error that the call throws; empty if it throws none.
std::string refusal(std::function<void()> const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  return {};
}

/// A folder in which there is a ledger of four leases, closed.
struct ALedgerFile : support::FolderOfFiles {
  std::string name;

  void SetUp() override {
    FolderOfFiles::SetUp();
    name = path("ledger");
    SqliteLedger(name, {.purpose = "tests"}).enqueue(numbered_work(4), true);
  }
  std::string refusal_to_open(LedgerOptions const& options = {}) const {
    return refusal([&] { SqliteLedger(name, options).progress(); });
  }
  /// Runs statements on the file, as another program would.
  void run(char const* statements) const {
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(name.c_str(), &other), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(other, statements, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(other);
    sqlite3_close(other);
  }
};

TEST_F(ALedgerFile, GoesOnWhereItStoodWhenItWasClosed) {
  {
    SqliteLedger ledger(name);
    auto const owner = ledger.join();
    owner->exchange(settle_all(owner->exchange({}, 2).taken, Kind::acknowledge), 1);
  }
  SqliteLedger ledger(name);
  EXPECT_EQ(ledger.progress().done, 2U);
  EXPECT_EQ(ledger.progress().ready, 2U);
  EXPECT_THAT(numbers_of(ledger.join()->exchange({}, 16).taken), ElementsAre(3, 4));
}

TEST_F(ALedgerFile, IsOneFileOnceItIsClosed) {
  EXPECT_FALSE(std::filesystem::exists(name + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(name + "-shm"));
}

TEST_F(ALedgerFile, OfAnotherVersionIsRefused) {
  run("pragma user_version = 7");
  EXPECT_THAT(refusal_to_open(), AllOf(HasSubstr("version 7"), HasSubstr("Use the penstock that made it")));
}

TEST_F(ALedgerFile, OfAnotherPurposeIsRefused) {
  EXPECT_THAT(refusal_to_open({.purpose = "work"}),
              HasSubstr("is the ledger of other work (tests), not of this (work)"));
  EXPECT_EQ(refusal_to_open({.purpose = "tests"}), "");
}

TEST_F(ALedgerFile, OfAnotherProgramIsRefusedAndStaysAsItIs) {
  run("pragma application_id = 7; pragma journal_mode = delete");
  EXPECT_THAT(refusal_to_open(), HasSubstr("is the database of another program. Name another file."));
  name = path("text");
  std::ofstream(name) << "This is text, and no database, for more than sixteen bytes.\n";
  EXPECT_THAT(refusal_to_open(), HasSubstr("is no ledger. Name another file."));
  std::ifstream text(name);
  EXPECT_EQ(text.get(), 'T');
}

TEST_F(ALedgerFile, ThatIsDamagedIsRefused) {
  std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  file << std::string(std::filesystem::file_size(name) - 4096, '\x5a');
  file.close();
  EXPECT_THAT(refusal_to_open(), AllOf(StartsWith(name + " is damaged."), HasSubstr(".recover")));
}

TEST_F(ALedgerFile, IsWantedOrNotWantedToBeThere) {
  EXPECT_THAT(refusal_to_open({.opening = LedgerOpening::fresh}), HasSubstr("is there already"));
  name = path("none");
  EXPECT_THAT(refusal_to_open({.opening = LedgerOpening::existing}), HasSubstr("there is no such ledger"));
  EXPECT_FALSE(std::filesystem::exists(name + "-locks"));
  EXPECT_EQ(refusal_to_open({.opening = LedgerOpening::fresh}), "");
}

TEST_F(ALedgerFile, InAFolderThatIsNotThereOrIsOneIsRefused) {
  name = path("none") + "/ledger";
  EXPECT_THAT(refusal_to_open(), AllOf(HasSubstr("No such file or directory"), HasSubstr("Name a file in a folder")));
  name = folder;
  EXPECT_THAT(refusal_to_open(), HasSubstr("is a folder. Name a file in it."));
}

/// The superuser may write whatever the mode says, so a child looks as another user.
TEST_F(ALedgerFile, ThatMayNotBeWrittenIsRefused) {
  chmod(folder.c_str(), 0555);
  chmod(name.c_str(), 0444);
  chmod((name + "-locks").c_str(), 0666);
  auto const as_another = [&] {
    if (geteuid() == 0 && seteuid(65534) != 0) return 1;
    return refusal_to_open().find("can be read but not written. Make the file and its folder writable") !=
                   std::string::npos
               ? 7
               : 2;
  };
  EXPECT_EQ(support::exit_code_of_child(as_another), 7);
  chmod(folder.c_str(), 0755);
}

TEST_F(ALedgerFile, ByAnotherNameIsTheSame) {
  std::filesystem::create_symlink(name, path("link"));
  SqliteLedger by_link(path("link")), by_name(name);
  auto const one = by_link.join(), other = by_name.join();
  EXPECT_THAT(one->exchange({}, 2).taken, SizeIs(2));
  EXPECT_THAT(numbers_of(other->exchange({}, 16).taken), ElementsAre(3, 4)) << "the first owner is alive";
  EXPECT_FALSE(std::filesystem::exists(path("link-locks")));
}

TEST_F(ALedgerFile, WithSeveralNamesIsRefused) {
  std::filesystem::create_hard_link(name, path("second"));
  EXPECT_THAT(refusal_to_open(), HasSubstr("has several names"));
}

TEST_F(ALedgerFile, ThatWasReplacedWhileInUseTakesNoMoreAnswers) {
  SqliteLedger ledger(name);
  auto const owner = ledger.join();
  auto const taken = owner->exchange({}, 1).taken;
  std::filesystem::rename(name, path("moved"));
  auto const settle = [&] { owner->exchange(settle_all(taken, Kind::acknowledge), 0); };
  EXPECT_THAT(refusal(settle), HasSubstr("was removed or replaced while it was in use"));
  std::filesystem::rename(path("moved"), name);
  EXPECT_EQ(refusal(settle), "");
  std::filesystem::remove(name + "-locks");
  EXPECT_THAT(refusal([&] { owner->exchange({}, 0); }), HasSubstr("-locks was removed or replaced"));
  // The owner says that it cannot give back what it has.
  set_message_hook(nullptr);
}

TEST_F(ALedgerFile, ThatAnotherProgramHasLockedSaysSo) {
  SqliteLedger ledger(name);
  auto const owner = ledger.join();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(name.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "begin immediate", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_THAT(refusal([&] { owner->exchange({}, 1); }), HasSubstr("locked by a program that is not of penstock"));
  sqlite3_exec(other, "commit", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_THAT(owner->exchange({}, 1).taken, SizeIs(1));
}

int reason = 0;

ssize_t write_nothing(int, void const*, std::size_t, off_t) {
  errno = reason;
  return -1;
}

/// The calls by which SQLite writes; whichever of the two it has.
struct FullDisk {
  static constexpr char const* names[] = {"pwrite", "pwrite64"};
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  explicit FullDisk(int error = ENOSPC) {
    reason = error;
    for (char const* name : names)
      system->xSetSystemCall(system, name, reinterpret_cast<sqlite3_syscall_ptr>(write_nothing));
  }
  FullDisk(FullDisk const&) = delete;
  FullDisk& operator=(FullDisk const&) = delete;
  ~FullDisk() {
    for (char const* name : names) system->xSetSystemCall(system, name, nullptr);
  }
};

/// Full is also where the user has no room left. Seen to fail where only SQLite was asked for the reason.
TEST_F(ALedgerFile, OnAFullDiskLosesNothingAndGoesOnOnceThereIsRoom) {
  SqliteLedger ledger(name);
  auto const owner = ledger.join();
  auto const taken = owner->exchange({}, 2).taken;
  for (int const error : {ENOSPC, EDQUOT, EFBIG}) {
    FullDisk const full(error);
    EXPECT_THROW(owner->exchange({}, 1), LedgerUnavailable);
    EXPECT_THAT(refusal([&] { owner->exchange(settle_all(taken, Kind::acknowledge), 2); }),
                AllOf(HasSubstr("finds no room on its disk"), HasSubstr("free some space")));
  }
  EXPECT_EQ(ledger.progress().out, 2U);
  Exchange const again = owner->exchange(settle_all(taken, Kind::acknowledge), 2);
  EXPECT_THAT(again.refused, IsEmpty());
  EXPECT_THAT(numbers_of(again.taken), ElementsAre(3, 4));
}

/// Seen to fail where each exchange noted its owner.
TEST_F(ALedgerFile, IsNotWrittenByOwnersThatOnlyAsk) {
  SqliteLedger ledger(name);
  auto const busy = ledger.join();
  auto const taken = busy->exchange({}, 4).taken;
  auto const idle = ledger.join(), promising = ledger.join({.silence = std::chrono::hours(1)});
  auto const log = std::filesystem::file_size(name + "-wal");
  for (int k = 0; k < 3; ++k) {
    EXPECT_THAT(idle->exchange({}, 16).taken, IsEmpty());
    EXPECT_THAT(promising->exchange({}, 16).taken, IsEmpty());
  }
  EXPECT_EQ(std::filesystem::file_size(name + "-wal"), log);
  busy->exchange(settle_all(taken, Kind::acknowledge), 0);
  EXPECT_GT(std::filesystem::file_size(name + "-wal"), log);
}

TEST_F(ALedgerFile, IsCopiedWhileItIsInUse) {
  SqliteLedger ledger(name);
  auto const owner = ledger.join();
  auto const taken = owner->exchange(settle_all(owner->exchange({}, 1).taken, Kind::acknowledge), 1).taken;
  ledger.copy_to(path("copy"));
  EXPECT_THAT(refusal([&] { ledger.copy_to(path("copy")); }), HasSubstr("is there already"));
  SqliteLedger copy(path("copy"), {.purpose = "tests"});
  EXPECT_EQ(copy.answers().front().answer, "of 1");
  auto const reader = copy.join();
  auto const again = reader->exchange({}, 16).taken;
  EXPECT_THAT(numbers_of(again), ElementsAre(2)) << "its owner is not of this ledger, so it has ended";
  EXPECT_THAT(owner->exchange(settle_all(taken, Kind::acknowledge), 0).refused, IsEmpty());
}

/// Seen to fail where the copy was written under its own name.
TEST_F(ALedgerFile, LeavesNoPartOfACopyThatFailed) {
  SqliteLedger ledger(name);
  {
    FullDisk const full;
    EXPECT_THROW(ledger.copy_to(path("copy")), LedgerUnavailable);
  }
  for (auto const& file : std::filesystem::directory_iterator(folder))
    EXPECT_THAT(file.path().filename().string(), StartsWith("ledger"));
  ledger.copy_to(path("copy"));
  EXPECT_EQ(SqliteLedger(path("copy")).progress().ready, 4U);
}

/// Seen to fail where the child tried to give back what its parent has.
TEST_F(ALedgerFile, IsLeftToTheParentByAChildOfFork) {
  auto ledger = std::make_unique<SqliteLedger>(name);
  auto owner = ledger->join();
  auto const taken = owner->exchange({}, 2).taken;
  auto const child = [&] {
    static bool silent = true;
    set_message_hook([](std::string_view) noexcept { silent = false; });
    bool const refused = refusal([&] { owner->exchange({}, 1); }).find("A child of fork") != std::string::npos;
    owner.reset();
    ledger.reset();
    return refused && silent ? 7 : 1;
  };
  EXPECT_EQ(support::exit_code_of_child(child), 7);
  EXPECT_THAT(owner->exchange(settle_all(taken, Kind::acknowledge), 16).refused, IsEmpty());
}

TEST_F(ALedgerFile, StaysWithAnOwnerWhoseLedgerIsGone) {
  std::unique_ptr<LeaseOwner> owner;
  {
    SqliteLedger ledger(name);
    owner = ledger.join();
  }
  EXPECT_THAT(owner->exchange({}, 16).taken, SizeIs(4));
}

}  // namespace
}  // namespace penstock
