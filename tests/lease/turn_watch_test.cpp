// SPDX-License-Identifier: Apache-2.0
#include "lease/turn_watch.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "lease/ledger_place.hpp"
#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ALockHolder, IsTheProcessThatHasTheFileAndNoneThatWaitsForIt) {
  auto const holder = [](ino_t file, dev_t device = makedev(8, 1)) {
    std::istringstream locks(
        "1: POSIX  ADVISORY  WRITE 11 08:01:131 0 EOF\n"
        "2: OFDLCK ADVISORY  WRITE -1 08:01:131 0 0\n"
        "2: -> OFDLCK ADVISORY  WRITE -1 08:01:131 0 0\n"
        "3: FLOCK  ADVISORY  WRITE 812 08:01:131 0 EOF\n"
        "3: -> FLOCK  ADVISORY  WRITE 813 08:01:131 0 EOF\n"
        "4: FLOCK  ADVISORY  WRITE 814 00:2e:1310 0 EOF\n"
        "6: FLOCK  ADVISORY  WRITE 815 00:2e:131 0 EOF\n"
        "5: FLOCK  ADVISORY  WRITE -1 00:2e:77 0 EOF\n");
    return find_lock_holder(locks, device, file);
  };
  EXPECT_EQ(holder(131), 812);
  EXPECT_EQ(holder(131, makedev(0, 0x2e)), 815);
  EXPECT_EQ(holder(131, makedev(0, 0x31)), 0) << "it may be either file's";
  EXPECT_EQ(holder(1310), 814) << "of a file system that shows another device there";
  EXPECT_EQ(holder(77), 0) << "of another namespace of processes";
  EXPECT_EQ(holder(31), 0);
}

/// A ledger's place, and what is said meanwhile.
class ATurn : public support::FolderOfFiles {
 protected:
  ATurn() {
    said_ = 0;
    set_message_hook([](std::string_view text) noexcept {
      std::lock_guard const lock(mutex_);
      text_ = text;
      ++said_;
      said_.notify_all();
    });
  }
  ~ATurn() override { set_message_hook(nullptr); }

  /// Waits until something is said.
  static std::string hear() {
    said_.wait(0);
    std::lock_guard const lock(mutex_);
    return text_;
  }
  static int messages() { return said_; }

  static constexpr std::chrono::nanoseconds patience = std::chrono::milliseconds(1);

 private:
  static inline std::mutex mutex_;
  static inline std::string text_;
  static inline std::atomic<int> said_ = 0;
};

/// Seen to wait for ever where a turn was waited for without being watched.
TEST_F(ATurn, ThatAStoppedProcessHasIsWaitedForWithASentenceThatNamesIt) {
  LedgerPlace const place(path("ledger"), patience);
  int const locks = place.open_locks();
  pid_t const process = fork();
  if (process == 0) {
    flock(locks, LOCK_EX);
    raise(SIGSTOP);
    _exit(0);
  }
  close(locks);
  int status = 0;
  ASSERT_EQ(waitpid(process, &status, WUNTRACED), process);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::jthread const waits([&] { LedgerTurn const turn(place); });
  std::string const number = std::to_string(process);
  EXPECT_THAT(hear(), AllOf(HasSubstr("ledger: "), HasSubstr("process " + number + " has, and that is stopped."),
                            HasSubstr("kill -CONT " + number + ",")));
  kill(process, SIGCONT);
  EXPECT_EQ(waitpid(process, &status, 0), process);
}

TEST_F(ATurn, ThatIsLongIsWaitedForWithOneSentence) {
  LedgerPlace const place(path("ledger"), patience), other(path("ledger"), patience);
  std::jthread waits;
  {
    LedgerTurn const turn(other);
    waits = std::jthread([&] { LedgerTurn const next(place); });
    EXPECT_THAT(hear(), HasSubstr("which process " + std::to_string(getpid()) + " has. If that makes no progress"));
  }
  waits.join();
  // Another wait is told of again.
  {
    LedgerTurn const turn(other);
    int const before = messages();
    waits = std::jthread([&] { LedgerTurn const next(place); });
    while (messages() == before) std::this_thread::yield();
    EXPECT_EQ(messages(), before + 1);
  }
}

TEST_F(ATurn, ThatIsFreeStartsNoThread) {
  LedgerPlace const place(path("ledger"), std::chrono::nanoseconds(0));
  for (int k = 0; k < 100; ++k) LedgerTurn const turn(place);
  EXPECT_EQ(messages(), 0);
}

}  // namespace
}  // namespace penstock
