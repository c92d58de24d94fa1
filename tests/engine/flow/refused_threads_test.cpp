// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// Lets this process get no thread any more, for good. Returns false if the system does not let itself be told.
bool refuse_threads() {
  std::array<sock_filter, 5> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog const program{.len = filter.size(), .filter = filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/// The lane still gets its thread; when its stage is made there are no more.
[[noreturn]] void run_without_producers() {
  alarm(60);
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline pipeline(device,
                    {.tile = {.input_bytes = 64}, .producers = 3, .lanes = 1, .consumers = 1, .tuning = {.tiles = 4}});
  auto const stage = [] { return on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }); };
  Stages last = stage();
  last.make = [make = last.make](StageContext const& context) {
    if (!refuse_threads()) {
      std::fprintf(stderr, "not tried, this system has no seccomp\n");
      std::_Exit(0);
    }
    return make(context);
  };
  for (Stages const& stages : {last, stage()}) {
    try {
      static_cast<void>(
          pipeline.run(serial([](Tile&) -> std::optional<std::size_t> { return 1; }), stages, [](Completion&) {}));
      std::fprintf(stderr, "it ran\n");
      std::_Exit(1);
    } catch (Error const& error) {
      if (error.kind() != ErrorKind::system || pipeline.pool().on_loan() != 0) std::_Exit(2);
      std::fprintf(stderr, "refused as asked: %s\n", error.what());
    }
  }
  std::_Exit(0);
}

/// Every thread is there before the first tile is filled; from then on there are no more.
[[noreturn]] void run_without_more_threads() {
  alarm(300);
  cpu::CpuDevice device({.compute_threads = 1});
  HostStage const host{.name = "any", .body = [](Tile&) {}, .at_once = 0};
  Pipeline pipeline(device, {.tile = {.input_bytes = 64},
                             .producers = 1,  // It is there when it fills the first tile; a second one might not be.
                             .lanes = 1,
                             .consumers = 4,
                             .parallel_sink = true,
                             .host_stages = {host},
                             .tuning = {.tiles = 8}});
  std::atomic<std::uint64_t> left{200};
  std::atomic<bool> refused{false};
  Report const report =
      pipeline.run(serial([&](Tile&) -> std::optional<std::size_t> {
                     if (!refused.exchange(true) && !refuse_threads()) {
                       std::fprintf(stderr, "not tried, this system has no seccomp\n");
                       std::_Exit(0);
                     }
                     if (left == 0) return std::nullopt;
                     --left;
                     return 1;
                   }),
                   on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }), [](Completion&) {});
  if (!report.ok() || report.tiles_done != 200 || pipeline.pool().on_loan() != 0) std::_Exit(1);
  std::fprintf(stderr, "it ran\n");
  std::_Exit(0);
}

TEST(APipelineThatRuns, NeedsNoMoreThreads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_without_more_threads(), testing::ExitedWithCode(0),
              testing::AnyOf(testing::HasSubstr("it ran"), testing::HasSubstr("not tried")));
}

TEST(APipelineWithoutThreads, SaysSoAndWindsItselfUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_without_producers(), testing::ExitedWithCode(0),
              testing::AnyOf(testing::HasSubstr("refused to start thread"), testing::HasSubstr("not tried")));
}

}  // namespace
}  // namespace penstock
