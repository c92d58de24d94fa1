// SPDX-License-Identifier: Apache-2.0
// What keeps a run from being faster, and what to do about it: a source that takes its time, and a verdict that says
// so.
#include <cstdio>
#include <cstring>

#include <penstock/devices.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/verdict.hpp>

using namespace penstock;

/// Fills each tile over and over, as if that were work.
class SlowSource final : public Source {
 public:
  bool next(Tile& tile) override { return tile.sequence < 50; }
  std::size_t fill(Tile& tile) override {
    for (int round = 0; round < 250; ++round) std::memset(tile.input().data(), round, tile.input().size());
    return tile.input().size();
  }
};

int main() {
  auto const device = open_device();
  Recorder recorder;
  Pipeline pipeline(*device, {.tile = {.input_bytes = 1 << 20}, .producers = 1, .recorder = &recorder});
  auto const stage = each_tile([](DeviceTile const&, StreamRef) {});  // Yours, on the tile that is on the device.
  SlowSource source;
  Report const report = pipeline.run(source, stage, [](Completion const&) {});

  RunFigures const figures = measure::figures_of(report, pipeline.options(), recorder.take(), *device);
  Verdict const verdict = judge(figures);
  std::printf("%s\n", describe(verdict).c_str());
  return report.ok() ? 0 : 1;
}
