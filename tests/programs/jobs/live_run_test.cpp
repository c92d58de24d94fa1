// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/live_run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"
#include "programs/command/standard_output.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One tile without bytes.
class OneTile final : public Source {
 public:
  bool next(Tile&) override { return !std::exchange(over_, true); }
  std::size_t fill(Tile&) override { return 0; }

 private:
  bool over_ = false;
};

/// Takes what the process prints on standard error, as long as it lives.
///
/// Threads: any.
class TakenErrors {
 public:
  TakenErrors() : before_{dup(STDERR_FILENO)}, file_{memfd_create("errors", MFD_CLOEXEC)} {
    dup2(file_.number, STDERR_FILENO);
  }
  TakenErrors(TakenErrors const&) = delete;
  TakenErrors& operator=(TakenErrors const&) = delete;
  ~TakenErrors() { dup2(before_.number, STDERR_FILENO); }

  std::string text() const {
    std::string all;
    std::array<char, 4096> some{};
    for (ssize_t got = 0; (got = pread(file_.number, some.data(), some.size(), static_cast<off_t>(all.size()))) > 0;)
      all.append(some.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  Descriptor const before_, file_;
};

/// Numbers of the threads that this process has.
std::set<pid_t> threads() {
  std::set<pid_t> all;
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task"))
    all.insert(std::stoi(task.path().filename()));
  return all;
}

/// Lines at a very short interval, each of which asks what leases came to.
struct LinesOnLeases : testing::Test {
  StandardOutput output;
  Interrupt const interrupt{output};
  LiveRun live{{.stats_every = 0.001}, true};
  TakenErrors errors;
  std::set<pid_t> printing;  ///< Threads of the lines.
  std::atomic<unsigned> asked = 0;

  static LeasesSoFar so_far() { return {.words = "3 of 5 leases done"}; }
  std::shared_ptr<void> begin(std::function<LeasesSoFar()> ask = so_far) {
    std::set<pid_t> const before = threads();
    auto told = live.begin_leases([this, ask = std::move(ask)] { return ++asked, ask(); }, interrupt);
    std::ranges::set_difference(threads(), before, std::inserter(printing, printing.end()));
    return told;
  }
  bool prints() const {
    return std::ranges::any_of(printing, [](pid_t thread) { return tgkill(getpid(), thread, 0) == 0; });
  }
  /// Returns once a line was printed that was not begun before, or should have been, or no more lines can come.
  void await_line() const {
    auto const printed = [this] { return std::ranges::count(errors.text(), '\n'); };
    auto const lines = printed();
    // The line of the first is printed when it is asked for the third.
    for (unsigned const since = asked; asked < since + 3 && printed() < lines + 3 && prints();)
      std::this_thread::yield();
  }
};

/// Seen to fail where there were lines only while there was a pipeline.
TEST_F(LinesOnLeases, SayWhatTheyCameToWhileThereIsNoRun) {
  {
    auto const told = begin();
    await_line();
  }
  EXPECT_THAT(errors.text(), HasSubstr(": 3 of 5 leases done; waits for a lease\n"));
}

/// Seen to fail where each run had lines of its own.
TEST_F(LinesOnLeases, AreThoseOfTheRunAsWell) {
  {
    auto const told = begin();
    cpu::CpuDevice device;
    Pipeline pipeline(device, {.tile = {.input_bytes = 64}, .tuning = {.tiles = 1}});
    OneTile source;
    auto const run = live.begin(pipeline, source, {}, interrupt);
    pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [this](Completion const&) { await_line(); })
        .unread.mark_read();
  }
  std::string const said = errors.text();
  EXPECT_THAT(said, HasSubstr(": 3 of 5 leases done; here "));
  EXPECT_THAT(said, HasSubstr("1 of 1 tile lent; waits for the "));
  EXPECT_THAT(said, Not(HasSubstr(": 1 of 1 tile lent")));
}

/// A ledger that cannot be reached for a moment leaves out a line. Seen to fail where the thread ended with it.
TEST_F(LinesOnLeases, GoOnBehindOneThatIsNotToBeHad) {
  {
    auto const told = begin([this] {
      if (asked == 1) throw std::runtime_error("The ledger is locked.");
      return so_far();
    });
    await_line();
  }
  EXPECT_THAT(errors.text(), HasSubstr("3 of 5 leases done"));
}

}  // namespace
}  // namespace penstock::cli
