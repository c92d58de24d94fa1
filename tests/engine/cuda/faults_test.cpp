// SPDX-License-Identifier: Apache-2.0
// Tests what each signal and each lane make of a kernel that goes wrong on a real GPU: the table of docs/faults.md.
#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "support/cuda_kernels.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cuda/a_lost_gpu.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/lane/lane.hpp"
#include "engine/lane/make_signal.hpp"
#include "engine/machine/slab.hpp"

namespace penstock::cuda {
namespace {

using Clock = std::chrono::steady_clock;

enum class Mishap : std::uint8_t { illegal_address, failed_assert, refused_launch, endless_kernel };
constexpr std::array all_mishaps{Mishap::illegal_address, Mishap::failed_assert, Mishap::refused_launch,
                                 Mishap::endless_kernel};

char const* to_string(Mishap mishap) {
  constexpr std::array names{"illegal_address", "failed_assert", "refused_launch", "endless_kernel"};
  return names.at(static_cast<std::size_t>(mishap));
}

void bring_about(Mishap mishap, StreamRef stream) {
  auto* const native = static_cast<cudaStream_t>(stream.native());
  switch (mishap) {
    case Mishap::illegal_address:
      return support::write_to_nowhere(native);
    case Mishap::failed_assert:
      return support::assert_in_vain(native);
    case Mishap::refused_launch:
      return support::launch_too_large(native);
    case Mishap::endless_kernel:
      return support::run_for_ever(native);
  }
}

/// Message of a signal about the one tile that it was told of.
enum class Said : std::uint8_t { nothing, done, lost };

char const* to_string(Said said) {
  constexpr std::array names{"nothing", "done", "lost"};
  return names.at(static_cast<std::size_t>(said));
}

Said expected(SignalKind signal, Mishap mishap) {
  // The launch never was: what comes after it in the stream finds nothing wrong.
  if (mishap == Mishap::refused_launch) return Said::done;
  if (mishap == Mishap::endless_kernel) return Said::nothing;
  // Host functions do not run on a lost device, and nothing is written on it.
  bool const mute = signal == SignalKind::host_func || signal == SignalKind::flag;
  return mute ? Said::nothing : Said::lost;
}

Said ask(Signal& signal, Mailbox<Ticket>& tickets, Event const& landed, SignalKind kind) {
  if (auto const ticket = tickets.pop()) return ticket->status.ok ? Said::done : Said::lost;
  if (auto const number = signal.read()) return *number == 1 ? Said::done : Said::nothing;
  if (kind != SignalKind::event_poll) return Said::nothing;
  try {
    return landed.passed() ? Said::done : Said::nothing;
  } catch (Error const&) {
    return Said::lost;
  }
}

/// Tests the signal alone, without a lane that asks the device itself.
int the_signal_says_what_the_table_says(SignalKind kind, Mishap mishap) {
  Verdict verdict;
  auto const gpu = std::make_shared<CudaDevice>();
  // Objects that an endless kernel keeps from ending go the way of a lane's.
  struct Left {
    LanePost post{16};
    CpuSet cpus;
    std::optional<Stream> stream;
    std::optional<Event> landed;
    std::unique_ptr<Signal> signal;
  };
  auto const left = std::make_shared<Left>();
  left->stream.emplace(gpu->make_stream());
  left->landed.emplace(gpu->make_event());
  left->signal = make_signal(
      kind, {.device = *gpu, .tickets = left->post.tickets, .bell = left->post.bell, .depth = 4, .cpus = left->cpus});
  auto const start = Clock::now();
  bring_about(mishap, *left->stream);
  verdict.expect(gpu->take_refusal().has_value() == (mishap == Mishap::refused_launch), "the refusal is not known");
  left->stream->record(*left->landed);
  left->signal->put(1, *left->stream, *left->landed);
  left->signal->arm(0);

  Said said = Said::nothing;
  // An illegal address took 145 ms to be known. On a busy machine the thread that says so may come later.
  auto const most = std::chrono::milliseconds(expected(kind, mishap) == Said::nothing ? 600 : 30000);
  while (said == Said::nothing && Clock::now() - start < most) {
    said = ask(*left->signal, left->post.tickets, *left->landed, kind);
  }
  double const after = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  std::fprintf(stderr, "SAID %s %s: %s after %.1f ms\n", to_string(mishap), std::string(to_string(kind)).c_str(),
               to_string(said), after);
  verdict.expect(said == expected(kind, mishap), std::string("it said ") + to_string(said));
  bool const loses = mishap == Mishap::illegal_address || mishap == Mishap::failed_assert;
  verdict.expect(gpu->lost().has_value() == loses, "the device does not know whether it is lost");
  if (mishap == Mishap::endless_kernel) {
    gpu->abandon(Error(ErrorKind::device_lost, "This test is over."));
    gpu->keep(left);
  }
  left->stream->drop_calls();
  return verdict.exit_code();
}

constexpr std::chrono::milliseconds patience{500};
/// Patience, the watchdog's period, and the time that the driver takes to say what happened.
constexpr std::chrono::milliseconds stated_time{1000};

/// Six tiles on two slots; the mishap is in the stage of the third.
int each_tile_comes_once_in_time(SignalKind kind, Mishap mishap) {
  Verdict verdict;
  CudaDevice gpu;
  constexpr TileShape shape{.input_bytes = 4096, .output_bytes = 4096, .in_place = true};
  auto slab = std::make_shared<Slab>(Pool::slab_bytes(shape, 6), std::nullopt, 1);
  Pinned const pinned = gpu.pin(slab->bytes());
  Pool pool(slab->bytes(), shape, 6);
  std::mutex mutex;
  std::vector<Completion> completions;
  auto const seen = [&] {
    std::scoped_lock const lock(mutex);
    return completions.size();
  };
  Clock::time_point start;
  double last = 0;
  {
    Lane lane(gpu, shape, 6, {.flight = {.slots = 2, .streams = StreamMode::own, .patience = patience}, .signal = kind},
              0, on_device([&](DeviceTile const& tile, StreamRef stream) {
                if (tile.sequence == 2) bring_about(mishap, stream);
                return tile.input.size();
              }),
              [&](Completion completion) {
                std::scoped_lock const lock(mutex);
                completions.push_back(std::move(completion));
              });
    start = Clock::now();
    for (std::uint64_t i = 0; i < 6; ++i) {
      Loan loan = pool.borrow();
      loan->sequence = i;
      loan->filled = 4096;
      verdict.expect(lane.submit(loan), "the lane did not take a tile");
    }
    while (seen() < 6 && Clock::now() - start < std::chrono::seconds(30)) std::this_thread::yield();
    last = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    verdict.expect(seen() == 6, "a tile did not come back");
    lane.close();
    std::fprintf(stderr, "LANE %s %s: last of six after %.0f ms, found by watchdog %d\n", to_string(mishap),
                 std::string(to_string(kind)).c_str(), last, static_cast<int>(lane.summary().found.by_watchdog));
  }
  verdict.expect(last < std::chrono::duration<double, std::milli>(stated_time).count(), "the last tile came too late");
  bool const refused = mishap == Mishap::refused_launch;
  for (std::uint64_t i = 0; i < completions.size(); ++i) {
    Completion const& completion = completions[i];
    std::string const tile = "tile " + std::to_string(i);
    verdict.expect(completion.loan->sequence == i, tile + " came out of order");
    if (completion.failure != nullptr) {
      verdict.expect(!completion.failure->reason.empty() && !completion.failure->stage.empty(),
                     tile + " gives no reason");
      if (refused) verdict.expect(completion.failure->stage == "stage", tile + " names " + completion.failure->stage);
      if (!refused) verdict.expect(completion.failure->kind == ErrorKind::device_lost, completion.failure->reason);
    }
    // Tiles that were on the device before an illegal address may or may not have been heard of.
    if (refused) verdict.expect(completion.ok() == (i != 2), tile + " has the wrong outcome");
    if (!refused && i >= 2) verdict.expect(completion.outcome == Outcome::failed, tile + " did not fail");
  }
  bool const endless = mishap == Mishap::endless_kernel;
  if (endless && completions.size() > 2) {
    verdict.expect(completions[2].failure && completions[2].failure->stage == "stage", "the stuck tile is not named");
  }
  completions.clear();
  verdict.expect(pool.on_loan() == 0, "a tile is not home");
  verdict.expect(endless ? pool.stranded() >= 1 : pool.stranded() == 0, "other tiles are stranded");
  if (endless) gpu.keep(slab);
  return verdict.exit_code();
}

/// Shows it, too, for the figures of docs/faults.md.
MATCHER(FindsNothingBroken, "finds nothing broken") {
  std::fputs(arg.c_str(), stdout);
  return arg.find("BROKEN") == std::string::npos;
}

struct AFault : ALostGpu, testing::WithParamInterface<std::tuple<SignalKind, Mishap>> {};

TEST_P(AFault, IsToldByTheSignalAsTheTableSays) {
  EXPECT_EXIT(play([] { return std::apply(the_signal_says_what_the_table_says, GetParam()); }),
              testing::ExitedWithCode(0), FindsNothingBroken());
}

TEST_P(AFault, GivesEachTileItsOneCompletionInTime) {
  EXPECT_EXIT(play([] { return std::apply(each_tile_comes_once_in_time, GetParam()); }), testing::ExitedWithCode(0),
              FindsNothingBroken());
}

std::string name_of_fault(testing::TestParamInfo<AFault::ParamType> const& fault) {
  return std::string(to_string(std::get<0>(fault.param))) + "_" + to_string(std::get<1>(fault.param));
}

INSTANTIATE_TEST_SUITE_P(OfAKernel, AFault,
                         testing::Combine(testing::ValuesIn(all_signal_kinds), testing::ValuesIn(all_mishaps)),
                         name_of_fault);

}  // namespace
}  // namespace penstock::cuda
