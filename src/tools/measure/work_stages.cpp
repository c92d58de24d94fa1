// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/work_stages.hpp"

#include <span>

#include "penstock/kernels.hpp"
#include "penstock/kernels/busy.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {
namespace {

static_assert(sizeof(Blake3Node) == hashed_bytes);

void produce_all(std::span<DeviceTile const> tiles, std::span<std::size_t> produced) {
  for (std::size_t i = 0; i < tiles.size(); ++i) produced[i] = tiles[i].output.size();
}

class CopyStage final : public Stage {
 public:
  explicit CopyStage(StageContext const&) {}
  std::size_t run(DeviceTile const& tile, StreamRef) override { return tile.output.size(); }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef) override {
    produce_all(tiles, produced);
    return true;
  }
};

class TransformStage final : public Stage {
 public:
  explicit TransformStage(StageContext const& context)
      : promises_{.reads_once = context.shape.in_place || context.shape.input_bytes == 0, .capturable = true} {}
  // With an input part alone the stage writes to it, which the host must not see: then it does not read once.
  Promises promises() const noexcept override { return promises_; }
  void prepare(StreamRef stream) override { transform_prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    // In place where there is one part only, or one memory for both.
    DeviceSpan<float> const on = (tile.input.empty() ? tile.output : tile.input).as<float>();
    transform(on, 0, on, stream);
    return tile.output.size();
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    for_each_stretch(tiles, [&](DeviceTile const& stretch, std::size_t) { run(stretch, stream); });
    produce_all(tiles, produced);
    return true;
  }

 private:
  Promises const promises_;
};

class BusyStage final : public Stage {
 public:
  BusyStage(StageContext const& context, std::chrono::nanoseconds duration)
      : duration_(duration), stamp_(context.device.allocate(sizeof(Stamp))) {}
  Promises promises() const noexcept override { return {.capturable = true}; }
  void prepare(StreamRef stream) override { busy_prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    // Its time is never read, so it may be any Stamp.
    busy(duration_, 1, reinterpret_cast<Stamp*>(stamp_.bytes().data()), stream);
    return tile.output.size();
  }

 private:
  std::chrono::nanoseconds duration_;
  DeviceMemory stamp_;
};

}  // namespace

Stages work_stages(Setting const& setting) {
  switch (setting.work) {
    case Work::copy:
      return stage_per_lane<CopyStage>();
    case Work::transform:
      return stage_per_lane<TransformStage>();
    case Work::hash:
      return stage_per_lane<HashStage>();
    case Work::busy:
      break;
  }
  return {.make = [duration = setting.busy](
                      StageContext const& context) { return std::make_unique<BusyStage>(context, duration); },
          .merge = {}};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
