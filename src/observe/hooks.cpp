// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "observe/attribute.hpp"
#include "observe/judge.hpp"
#include "observe/lost_tiles.hpp"
#include "observe/option_members.hpp"
#include "observe/replay.hpp"
#include "penstock/error.hpp"
#include "penstock/observe.hpp"
#include "penstock/run_hook.hpp"

namespace penstock {
namespace {

class Judging final : public RunHook {
 public:
  /// Sets its recorder in the options.
  ///
  /// Throws: Error of kind bad_argument, if they name another one.
  explicit Judging(PipelineOptions& options) {
    if (options.watching.recorder != nullptr) {
      throw Error(ErrorKind::bad_argument,
                  "`verdicts()` keeps a recorder of its own: leave out that or `watching.recorder`.");
    }
    options.watching.recorder = &recorder_;
  }
  void after_run(Report& report, HookedRun const& run) override {
    Recording const recording = recorder_.take();
    bool const lost = std::ranges::any_of(report.devices, [](DeviceSummary const& one) { return !one.loss.empty(); });
    if (lost || report.tiles_done == 0) return;
    PipelineOptions of_run = run.options;
    if (run.one_lane) of_run.lanes = 1;
    RunFigures figures = figures_of(report, of_run, recording, *run.devices.front());
    figures.one_lane = run.one_lane;
    report.verdict = std::make_shared<Verdict const>(in_members(judge(figures)));
  }

 private:
  static constexpr std::size_t passages = std::size_t{1} << 18;
  Recorder recorder_{RecorderOptions{.capacity = passages}};
};

class Attributing final : public RunHook {
 public:
  explicit Attributing(std::vector<std::string> command) : command_(std::move(command)) {}

  void before_run(HookedRun const& run) override {
    if (auto const replay = Replay::claim(run.options.tile)) {
      replay->run({run.devices.begin(), run.devices.end()}, run.options, run.stages);
    }
    // A process that was started to run tiles again keeps no tiles and starts no other process.
    tiles_ = Replay::is_for_this() ? nullptr : std::make_unique<LostTiles>(run.options.tile);
  }
  void lost(Tile const& tile, unsigned lane) noexcept override {
    if (tiles_ != nullptr) tiles_->keep(tile, lane);
  }
  void after_run(Report& report, HookedRun const& run) override {
    if (tiles_ == nullptr || (tiles_->file() < 0 && tiles_->missing().empty())) return;
    AttributionTask const task{.command = command_,
                               .in_place = run.options.tile.in_place,
                               .given_up = std::ranges::any_of(run.devices, &Device::abandoned),
                               .patience = run.options.tuning.patience};
    report.attribution = std::make_shared<Attribution const>(attribute(*tiles_, task, run.stopped));
  }

 private:
  std::vector<std::string> const command_;
  std::unique_ptr<LostTiles> tiles_;  ///< Tiles of the current run, or of the last one; null if none are to be kept.
};

}  // namespace

RunHookMaker verdicts() {
  return [](PipelineOptions& options) { return std::make_unique<Judging>(options); };
}

RunHookMaker attribution(std::vector<std::string> command) {
  return [command = std::move(command)](PipelineOptions&) { return std::make_unique<Attributing>(command); };
}

}  // namespace penstock
