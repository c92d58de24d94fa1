// SPDX-License-Identifier: Apache-2.0
// A pipeline, the verdict on it, and what following its advice gains.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/host_keeper.hpp"
#include "observe/judge.hpp"
#include "observe/option_table.hpp"
#include "observe/verdict/run_figures.hpp"
#include "penstock/clock.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

/// A pipeline whose parts take times that say what bounds it. They wait and do not compute: a machine that is busy
/// wakes them a little late, and all of them alike.
struct AFollowedPipeline : testing::Test {
  static constexpr std::size_t kibibyte = 1024;

  AFollowedPipeline() {
    set_bytes(16 * kibibyte);
    options.producers = 4;
    options.lanes = 1;
    options.consumers = 1;
    options.tuning.slots = 8;
    options.tuning.batch = 1;
    options.tuning.tiles = 32;
    options.tuning.signal = SignalKind::callback;
    options.tuning.spin = std::chrono::microseconds(0);
    options.tuning.transport = Transport::copies;
    options.tuning.graphs = Graphs::never;
  }
  void set_bytes(std::size_t bytes) { options.tile = {.input_bytes = bytes, .output_bytes = bytes, .in_place = true}; }

  virtual std::unique_ptr<cpu::CpuDevice> device() const = 0;
  /// The kernel of a tile.
  virtual void compute(StreamRef stream) const = 0;
  /// The reason why times of a run are not to be relied on; empty if they are.
  virtual std::string disturbed(Report const& report) const = 0;

  static void take(std::chrono::nanoseconds time) {
    if (time.count() > 0) cpu::wait_until(Clock::now() + time);
  }

  struct Ran {
    RunFigures figures;
    std::string disturbed;
    double bytes_per_second() const { return static_cast<double>(figures.tiles) * figures.tile_bytes / figures.wall; }
  };
  Ran run(PipelineOptions recorded) const {
    auto const used = device();
    Recorder recorder({.capacity = 1 << 15});
    recorded.watching.recorder = &recorder;
    Pipeline pipeline(*used, recorded);
    auto const filled = [&](TilePlace, std::span<std::byte> input) {
      take(fill);
      return input.size();
    };
    auto const stage = on_device([this](DeviceTile const&, StreamRef stream) { compute(stream); });
    Report const report = pipeline.run(generate(tiles, filled), stage, [&](Completion&) { take(sink); });
    EXPECT_TRUE(report.ok()) << describe(report);
    Ran ran{.figures = figures_of(report, pipeline.options(), recorder.take(), *used), .disturbed = disturbed(report)};
    // Advice is that for a machine with CPUs left, whatever this one has.
    ran.figures.cpus = 16;
    ran.figures.cpu_of_others = ran.figures.cpu_not_told = 0;
    // What holds also where this machine was too slow is no less true.
    ran.figures.late.clear();
    return ran;
  }

  /// Returns the options with those that the advice names; `kernel` is halved, if that is the advice.
  PipelineOptions followed(std::string const& change) {
    PipelineOptions changed = options;
    std::istringstream words(change);
    for (std::string word, value; words >> word && word.starts_with("--") && words >> value;) {
      for (OptionRow const& row : option_table()) {
        if (row.name == word.substr(2)) row.set(changed, value);
      }
    }
    if (change.find("(parallel_sink)") != std::string::npos) changed.parallel_sink = true;
    if (change == "a kernel that takes half the time") kernel /= 2;
    return changed;
  }

  enum class Promise { met, met_or_exceeded };
  /// What became of the first advice.
  struct Followed {
    std::string problem;    ///< What is not as it should be; empty if all is.
    std::string disturbed;  ///< The reason why that may be the machine's fault.
  };
  /// Follows the first advice, and looks for the bound, a change that begins so, and the gain that was promised, to a
  /// third.
  Followed follow(Bound bound, std::string const& change, Promise promise) {
    Ran const before = run(options);
    Verdict const verdict = judge(before.figures, alone);
    std::string const said = "\n" + describe(verdict);
    if (verdict.bound != bound) return {"The bound is another one." + said, before.disturbed};
    if (verdict.advice.empty()) return {"Nothing is advised." + said, before.disturbed};
    Advice const& advice = verdict.advice.front();
    if (!advice.change.starts_with(change)) return {"Another change is advised." + said, before.disturbed};
    Ran const after = run(followed(advice.change));
    double const promised = advice.gain - 1, gained = after.bytes_per_second() / before.bytes_per_second() - 1;
    RecordProperty("promised", std::to_string(promised));
    RecordProperty("gained", std::to_string(gained));
    bool const held = gained >= promised * 2 / 3 && (promise == Promise::met_or_exceeded || gained <= promised * 4 / 3);
    return {held ? "" : "Bytes a second grew by " + std::to_string(gained) + " of what they were." + said,
            before.disturbed.empty() ? after.disturbed : before.disturbed};
  }

  /// Expects that of `follow` in most turns that nothing disturbed: a thread that is held up for less than a report
  /// tells makes a run of some milliseconds slower. Skips where the machine was too busy for the times.
  void expect_advice_to_hold(Bound bound, std::string const& change, Promise promise = Promise::met) {
    int held = 0, failed = 0;
    std::string wrong, disturbed;
    for (int turn = 0; turn < 5; ++turn) {
      auto const kernel_before = kernel;
      Followed const turned = follow(bound, change, promise);
      kernel = kernel_before;
      if (turned.problem.empty()) {
        ++held;
      } else if (turned.disturbed.empty()) {
        ++failed;
        wrong = turned.problem;
      } else {
        disturbed = turned.disturbed + '\n' + turned.problem;
      }
      if (held > failed) return;
    }
    if (failed > held) FAIL() << wrong;
    GTEST_SKIP() << disturbed << wrong;
  }

  PipelineOptions options;
  std::chrono::nanoseconds fill{0}, kernel{0}, sink{0};  ///< Times of one tile.
  std::uint64_t tiles = 100;
  Ceilings alone;
};

}  // namespace penstock
