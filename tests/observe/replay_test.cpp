// SPDX-License-Identifier: Apache-2.0
// The process that runs tiles again ends with the one that started it. The test starts itself as that one, by its
// filter, and that one starts itself again.
#include "observe/replay.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

constexpr char const* pipe_variable = "PENSTOCK_TEST_REPLAY_PIPE";
constexpr int a_minute = 60'000;

/// The process that the test starts loses its device by one tile. The one that this starts writes its
/// number to the pipe, keeps that open, and does not end.
void run_one_tile() {
  bool const again = Replay::is_for_this();
  cpu::FaultyCpuDevice device{cpu::CpuOptions{.compute_threads = 1}};
  Pipeline pipeline(device, {.tile = {.input_bytes = 64, .output_bytes = 8},
                             .producers = 1,
                             .lanes = 1,
                             .consumers = 1,
                             .tuning = {.patience = std::chrono::hours(1)},
                             .watching = {.hooks = {attribution()}}});
  auto const stage = on_device([&](DeviceTile const&, StreamRef stream) -> std::size_t {
    if (!again) device.inject(cpu::Fault::break_kernel, 1);
    stream.launch(1, [again](std::uint32_t) {
      if (!again) return;
      pid_t const own = getpid();
      int const to = open(std::getenv(pipe_variable), O_WRONLY | O_CLOEXEC);
      static_cast<void>(!write(to, &own, sizeof own));
      while (true) pause();
    });
    return 8;
  });
  auto const fill = [left = 1](Tile&) mutable { return left-- > 0 ? std::optional<std::size_t>(64) : std::nullopt; };
  static_cast<void>(pipeline.run(serial(fill), stage, [](Completion&) {}).ok());
}

pid_t start_itself() {
  auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
  std::string program = "/proc/self/exe";
  std::string filter = std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name();
  std::array<char*, 3> const words{program.data(), filter.data(), nullptr};
  pid_t child = -1;
  EXPECT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, words.data(), environ), 0);
  return child;
}

TEST(Replay, EndsWithTheProcessThatStartedIt) {
  if (std::getenv(pipe_variable) != nullptr) {
    run_one_tile();
    return;
  }
  std::string const path = std::filesystem::temp_directory_path() / ("penstock-replay-" + std::to_string(getpid()));
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  setenv(pipe_variable, path.c_str(), 1);
  pid_t const parent = start_itself();
  unsetenv(pipe_variable);
  Descriptor const begun(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::filesystem::remove(path);
  pid_t replay = 0;
  ASSERT_EQ(read(begun.number, &replay, sizeof replay), static_cast<ssize_t>(sizeof replay));

  kill(parent, SIGKILL);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  pollfd ended{begun.number, POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, a_minute), 1) << "it still runs";
  if (ended.revents == 0) kill(replay, SIGKILL);
}

}  // namespace
}  // namespace penstock
