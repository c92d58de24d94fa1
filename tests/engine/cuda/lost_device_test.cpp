// SPDX-License-Identifier: Apache-2.0
// A GPU's context that has met a fault stays lost until its process ends: each of these has a process of its own.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "support/one_gpu.hpp"
#include <gmock/gmock.h>
#include <unistd.h>

#include "engine/cuda/a_lost_gpu.hpp"

namespace penstock::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CountedCallback final : public StreamCallback {
 public:
  void called(StreamStatus status) noexcept override {
    sticky = status.sticky;
    ++times;
  }
  std::atomic<int> times{0};
  std::atomic<bool> sticky{false};
};

cudaStream_t native(StreamRef stream) {
  return static_cast<cudaStream_t>(stream.native());
}

/// A device with one of everything, and a kernel that has written to nowhere.
struct LostGpu {
  LostGpu() : LostGpu(Fault::now) {}
  enum class Fault { now, later };
  /// `later`: the test launches that kernel.
  explicit LostGpu(Fault fault) {
    memory = gpu.allocate(4096);
    pinned = gpu.pin(page);
    if (fault == Fault::now) support::write_to_nowhere(native(stream));
  }

  alignas(4096) static inline std::byte page_bytes[4096];
  std::span<std::byte> page{page_bytes};
  CudaDevice gpu;
  Stream stream = gpu.make_stream();
  Stream other = gpu.make_stream();
  Event event = gpu.make_event();
  DeviceMemory memory;
  Pinned pinned;
  support::CudaKernels kernels;
};

int every_later_call_says_lost() {
  Verdict verdict;
  LostGpu lost;
  verdict.expect_lost("synchronize", [&] { lost.stream.synchronize(); });
  verdict.expect(lost.gpu.lost().has_value(), "lost() does not know");
  verdict.expect_lost("upload", [&] { lost.stream.upload(lost.memory.bytes(), lost.page); });
  verdict.expect_lost("download", [&] { lost.other.download(lost.page, lost.memory.bytes()); });
  verdict.expect_lost("record", [&] { lost.other.record(lost.event); });
  verdict.expect_lost("wait", [&] { lost.other.wait(lost.event); });
  verdict.expect_lost("idle", [&] { static_cast<void>(lost.other.idle()); });
  verdict.expect_lost("stream.synchronize", [&] { lost.other.synchronize(); });
  verdict.expect_lost("kernel", [&] { lost.kernels.add_one(lost.other, lost.memory.bytes()); });
  verdict.expect_lost("allocate", [&] { static_cast<void>(lost.gpu.allocate(16)); });
  verdict.expect_lost("pin", [&] { static_cast<void>(lost.gpu.pin(lost.page)); });
  verdict.expect_lost("make_stream", [&] { static_cast<void>(lost.gpu.make_stream()); });
  verdict.expect_lost("make_event", [&] { static_cast<void>(lost.gpu.make_event()); });
  verdict.expect_lost("device.synchronize", [&] { lost.gpu.synchronize(); });
  verdict.expect_lost("attach", [&] { lost.gpu.attach(); });
  verdict.expect_lost("info", [&] { static_cast<void>(lost.gpu.info()); });
  return verdict.exit_code();
}

int waiting_for_an_event_behind_the_fault_ends() {
  Verdict verdict;
  LostGpu lost;
  try {
    lost.stream.record(lost.event);
    lost.event.wait();
    verdict.expect(false, "the wait ended as if all were well");
  } catch (Error const& error) {
    verdict.expect(error.sticky(), error.what());
  }
  verdict.expect_lost("passed", [&] { static_cast<void>(lost.event.passed()); });
  return verdict.exit_code();
}

int a_fault_that_others_met_is_known() {
  Verdict verdict;
  LostGpu lost;
  // A user's own code, which tells no other.
  verdict.expect(cudaStreamSynchronize(native(lost.stream)) == cudaErrorIllegalAddress, "no fault");
  auto const fault = lost.gpu.lost();
  verdict.expect(fault && fault->sticky(), "lost() did not ask");
  return verdict.exit_code();
}

int a_callback_behind_the_fault_comes_at_most_once() {
  Verdict verdict;
  CountedCallback callback;
  {
    LostGpu lost;
    try {
      lost.stream.call(callback);
    } catch (Error const& error) {
      verdict.expect(error.sticky(), error.what());
    }
    verdict.expect_lost("synchronize", [&] { lost.stream.synchronize(); });
  }
  verdict.expect(callback.times <= 1, "called " + std::to_string(callback.times) + " times");
  std::fprintf(stderr, "called %d times, sticky %d\n", callback.times.load(), callback.sticky.load() ? 1 : 0);
  return verdict.exit_code();
}

int no_callback_comes_after_its_stream() {
  Verdict verdict;
  LostGpu lost(LostGpu::Fault::later);
  support::Hold still = lost.kernels.hold(lost.other);
  CountedCallback callback;
  {
    Stream const own = lost.gpu.make_stream();
    Event const opened = lost.gpu.make_event();
    lost.other.record(opened);
    own.wait(opened);
    own.call(callback);
    support::write_to_nowhere(native(lost.stream));
    verdict.expect_lost("synchronize", [&] { lost.stream.synchronize(); });
  }
  int const times = callback.times;
  still.open();
  for (Stream* const stream : {&lost.stream, &lost.other}) {
    verdict.expect_lost("synchronize", [&] { stream->synchronize(); });
  }
  verdict.expect(callback.times == times, "called after its stream had died");
  return verdict.exit_code();
}

int everything_dies_with_one_line() {
  { LostGpu const lost; }
  return 0;
}

/// The application resets the GPU while penstock has it.
int a_reset_is_a_loss() {
  Verdict verdict;
  CudaDevice gpu;
  {
    Event const event = gpu.make_event();
    Stream const stream = gpu.make_stream();
    stream.record(event);
    stream.synchronize();
    verdict.expect(!gpu.lost(), "lost before the reset");
    verdict.expect(cudaDeviceReset() == cudaSuccess, "the reset was refused");
    auto const lost = gpu.lost();
    verdict.expect(lost.has_value(), "lost() does not know");
    if (lost) {
      std::fprintf(stderr, "said: %s\n", lost->what());
      verdict.expect(lost->sticky(), "it is not sticky");
      verdict.expect(std::string(lost->what()).find("cudaDeviceReset") != std::string::npos, "the reset is not named");
    }
    verdict.expect(!gpu.take_refusal() || gpu.lost(), "a refusal was left for the next launch");
    bool refused = false;
    try {
      gpu.attach();
    } catch (Error const& error) {
      refused = error.sticky();
    }
    verdict.expect(refused, "a later call was served");
    // The handles that are left belong to no context.
    std::fflush(stderr);
    std::_Exit(verdict.exit_code());
  }
}

/// Only what can be said once is said: the rest died of the same.
bool has_one_report(std::string const& text) {
  auto const first = text.find("penstock:");
  return first != std::string::npos && text.find("penstock:", first + 1) == std::string::npos;
}

MATCHER(IsOneReport, "is one line that says what failed") {
  return has_one_report(arg);
}

TEST_F(ALostGpu, RefusesEveryLaterCallAndNamesTheCause) {
  EXPECT_EXIT(play(every_later_call_says_lost), testing::ExitedWithCode(0), Not(HasSubstr("BROKEN")));
}

TEST_F(ALostGpu, LetsNobodyWaitForEver) {
  EXPECT_EXIT(play(waiting_for_an_event_behind_the_fault_ends), testing::ExitedWithCode(0), Not(HasSubstr("BROKEN")));
}

TEST_F(ALostGpu, KnowsItEvenIfOthersMetTheFault) {
  EXPECT_EXIT(play(a_fault_that_others_met_is_known), testing::ExitedWithCode(0), Not(HasSubstr("BROKEN")));
}

TEST_F(ALostGpu, CallsBackAtMostOnce) {
  EXPECT_EXIT(play(a_callback_behind_the_fault_comes_at_most_once), testing::ExitedWithCode(0),
              AllOf(Not(HasSubstr("BROKEN")), HasSubstr("called")));
}

TEST_F(ALostGpu, CallsNobodyBackWhoseStreamIsGone) {
  EXPECT_EXIT(play(no_callback_comes_after_its_stream), testing::ExitedWithCode(0), Not(HasSubstr("BROKEN")));
}

TEST_F(ALostGpu, IsOneThatTheApplicationHasReset) {
  EXPECT_EXIT(play(a_reset_is_a_loss), testing::ExitedWithCode(0),
              AllOf(Not(HasSubstr("BROKEN")), HasSubstr("took the GPU's context away")));
}

TEST_F(ALostGpu, IsGivenUpWithOneReportAndWithoutHanging) {
  EXPECT_EXIT(play(everything_dies_with_one_line), testing::ExitedWithCode(0), IsOneReport());
}

}  // namespace
}  // namespace penstock::cuda
