// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/work_stages.hpp"

#include <memory>
#include <span>

#include "kernels/basic/busy.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"
#include "programs/measure/built_in.hpp"

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
      : promises_{.reads_once = context.shape.in_place || context.shape.input_bytes == 0, .capturable = true},
        multiprocessors_(context.spare > 0 ? context.multiprocessors() : 0) {}
  // If there is an input part alone the stage writes to it, which the host must not see: then it does not read once.
  Promises promises() const noexcept override { return promises_; }
  void prepare(StreamRef stream) override { transform_prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    // It works in place if there is one part only, or one memory for both.
    DeviceSpan<float> const on = (tile.input.empty() ? tile.output : tile.input).as<float>();
    transform(on, 0, on, stream, multiprocessors_);
    return tile.output.size();
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    for_each_stretch(tiles, [&](DeviceTile const& stretch, std::size_t) { run(stretch, stream); });
    produce_all(tiles, produced);
    return true;
  }

 private:
  Promises const promises_;
  unsigned const multiprocessors_;
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

Stages stages_of(BuiltIn const& wanted) {
  switch (wanted.work) {
    case Work::copy:
      return stage_per_lane<CopyStage>();
    case Work::transform:
      return stage_per_lane<TransformStage>();
    case Work::hash:
      return stage_per_lane<HashStage>();
    case Work::busy:
      break;
  }
  return {
      .make = [busy = wanted.busy](StageContext const& context) { return std::make_unique<BusyStage>(context, busy); },
      .merge = {}};
}

/// Throws: as work_of.
JobWork work_at(JobPoint const& point, Setting const& setting, FillMemory* memory) {
  if (setting.job != nullptr) {
    if (!setting.job->make) throw Error(ErrorKind::bad_argument, "The job makes no work: set Job::make.");
    JobWork work = setting.job->make(point);
    if (!work.source) throw Error(ErrorKind::bad_argument, "The job has no input: let Job::make set JobWork::source.");
    return work;
  }
  BuiltIn const wanted(point.values);
  return {.source =
              [wanted, tile = point.tile_bytes, memory](Pool const&) {
                return std::make_unique<Filler>(wanted.fill, tile, wanted.file, memory, wanted.fill_busy);
              },
          .stages = stages_of(wanted)};
}

}  // namespace

JobWork work_of(Setting const& setting, FillMemory* memory, std::stop_token const& stop) {
  JobPoint point = setting.point();
  point.stop = stop;
  return work_at(point, setting, memory);
}

JobWork measured_work_of(Setting const& setting, FillMemory* memory, std::stop_token const& stop, bool digested) {
  JobPoint point = setting.point();
  point.stop = stop;
  point.measured = true;
  point.digested = digested;
  return work_at(point, setting, memory);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
