// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "support/folder_of_files.hpp"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "programs/hash/hash_job.hpp"

namespace penstock::cli {
namespace {

/// A process of `penstock hash --device cpu`.
class HashProcess {
 public:
  HashProcess(std::vector<std::string> arguments, std::string const& output) {
    arguments.insert(arguments.begin(), {PENSTOCK_COMMAND, "hash", "--device", "cpu"});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    EXPECT_EQ(posix_spawn(&process_, PENSTOCK_COMMAND, &files, &attributes, pointers.data(), environ), 0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    ended_.number = static_cast<int>(syscall(SYS_pidfd_open, process_, 0));
  }
  HashProcess(HashProcess const&) = delete;
  HashProcess& operator=(HashProcess const&) = delete;
  ~HashProcess() {
    if (!waited_) end(SIGKILL);
  }

  /// True if it ends within some milliseconds.
  bool ends() const {
    pollfd waited{ended_.number, POLLIN, 0};
    return poll(&waited, 1, 5) == 1;
  }
  /// What it ended with, as waitpid says.
  int end(int signal = 0) {
    if (signal != 0) kill(process_, signal);
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    waited_ = true;
    return status;
  }

 private:
  pid_t process_ = -1;
  Descriptor ended_;
  bool waited_ = false;
};

/// Four leases. The first file of each but the first one is a gate: a pipe, which a process reads without end.
struct StoppedHash : support::FolderOfFiles, testing::WithParamInterface<int> {
  static constexpr int leases = 4, files_of_a_lease = 128;
  std::vector<std::string> paths;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    for (int i = 0; i < leases * files_of_a_lease; ++i) paths.push_back(file(name(i), size(i)));
  }
  static std::string name(int i) { return "f" + std::to_string(i); }
  static std::size_t size(int i) { return static_cast<std::size_t>(100 + i); }
  static int gate(int lease) { return lease * files_of_a_lease; }
  std::string lines() const {
    std::ifstream in(path("lines"));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> on_ledger() const {
    std::vector<std::string> arguments{"--ledger", path("ledger")};
    arguments.insert(arguments.end(), paths.begin(), paths.end());
    return arguments;
  }
};

/// A process is stopped at each gate, once all before it is done. What was done is then removed.
TEST_P(StoppedHash, PrintsTheSameLinesAndReadsNothingTwice) {
  ASSERT_EQ(HashProcess(paths, path("lines")).end(), 0);
  std::string const expected = lines();
  {
    StandardOutput output;
    HashJob const made({.paths = paths, .tile_bytes = 1 << 16, .ledger = path("ledger")}, output, {});
  }
  std::vector<std::unique_ptr<support::PipeWriter>> gates;
  for (int lease = 1; lease < leases; ++lease) {
    std::filesystem::remove(path(name(gate(lease))));
    gates.push_back(std::make_unique<support::PipeWriter>(path(name(gate(lease)))));
  }
  for (int lease = 1; lease < leases; ++lease) {
    auto const done = static_cast<std::uint64_t>(lease);
    HashProcess process(on_ledger(), path("lines"));
    SqliteLedger ledger(path("ledger"));
    while (ledger.progress().done < done) {
      ASSERT_FALSE(process.ends()) << "at gate " << lease;
      ASSERT_EQ(ledger.progress().parked, 0U);
    }
    int const status = process.end(GetParam());
    if (GetParam() == SIGKILL) {
      EXPECT_TRUE(WIFSIGNALED(status));
    } else {
      EXPECT_TRUE(WIFEXITED(status));
      EXPECT_EQ(WEXITSTATUS(status), 130);
    }
    EXPECT_EQ(lines(), "");
    EXPECT_EQ(ledger.progress().done, done);
    for (int i = gate(lease - 1); i < gate(lease); ++i) std::filesystem::remove(path(name(i)));
    gates[static_cast<std::size_t>(lease - 1)].reset();
    std::filesystem::remove(path(name(gate(lease))));
    file(name(gate(lease)), size(gate(lease)));
  }
  EXPECT_EQ(HashProcess(on_ledger(), path("lines")).end(), 0);
  EXPECT_EQ(lines(), expected);
}
INSTANTIATE_TEST_SUITE_P(By, StoppedHash, testing::Values(SIGKILL, SIGINT),
                         [](auto const& test) { return test.param == SIGKILL ? "Kill" : "Interrupt"; });

}  // namespace
}  // namespace penstock::cli
