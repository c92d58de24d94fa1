// SPDX-License-Identifier: Apache-2.0
// Experiments: pipelines for which more streams would change nothing, and what the verdict on each says.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "course/experiment.hpp"
#include "course/judgements.hpp"
#include "course/small_batch.hpp"
#include "course/workbench.hpp"
#include "engine/core/event_count.hpp"
#include "engine/core/too_slow.hpp"
#include "kernels/basic/busy.hpp"
#include "observe/judge.hpp"
#include "observe/verdict/run_figures.hpp"
#include "penstock/clock.hpp"
#include "penstock/kernels.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kib = 1024, mib = 1024 * kib;

/// Tiles that are full from the start, or each of which takes some time to fill.
class GivenTiles final : public Source {
 public:
  GivenTiles(std::uint64_t count, std::chrono::nanoseconds each) : count_(count), each_(each) {}
  bool next(Tile& tile) override { return tile.sequence < count_; }
  std::size_t fill(Tile& tile) override {
    if (each_.count() > 0) {
      EventCount never_notified;
      never_notified.await([] { return false; }, 0ns, each_);
    }
    return tile.input().size();
  }

 private:
  std::uint64_t const count_;
  std::chrono::nanoseconds const each_;
};

/// Memory in which kernels of a run note that they ran, which nothing reads.
class Stamped {
 public:
  explicit Stamped(Device& device) : memory_(device.allocate(sizeof(Stamp))) {
    Stream const stream = device.make_stream();
    busy_prepare(stream);
    Stamp const fresh;
    stream.upload(memory_.bytes(), std::as_bytes(std::span(&fresh, 1)));
    stream.synchronize();
  }
  Stamp* stamp() const noexcept { return reinterpret_cast<Stamp*>(memory_.bytes().data()); }

 private:
  DeviceMemory const memory_;
};

/// A pipeline of one lane that computes in its own stream, and copies even where it need not.
PipelineOptions one_lane(std::size_t input_bytes, std::size_t output_bytes) {
  PipelineOptions options;
  options.tile = {.input_bytes = input_bytes, .output_bytes = output_bytes};
  options.producers = 1;
  options.lanes = 1;
  options.tuning.batch = 1;
  options.tuning.slots = 4;
  options.tuning.tiles = 8;
  options.tuning.streams = StreamMode::own;
  options.tuning.transport = Transport::copies;
  options.tuning.graphs = Graphs::never;
  return options;
}

/// Some tiles from the middle of a run, each in the steps that take time.
std::vector<Interval> drawn(Recording const& recording, std::uint64_t tiles, bool down) {
  constexpr std::uint64_t shown = 6;
  std::vector<Interval> intervals;
  auto const draw = [&](Step step, std::string const& row) {
    for (Passage const& passage : recording.passages) {
      if (passage.step != step || passage.tile < tiles / 2 || passage.tile >= tiles / 2 + shown) continue;
      intervals.push_back({row, std::to_string(passage.tile), std::chrono::nanoseconds(passage.begin),
                           std::chrono::nanoseconds(passage.end)});
    }
  };
  draw(Step::fill, "source");
  draw(Step::enqueue, "lane");
  draw(Step::upload, "upload");
  draw(Step::stage, "kernel");
  if (down) draw(Step::download, "download");
  if (!intervals.empty()) start_at_zero(intervals);
  return intervals;
}

struct Work {
  PipelineOptions options;
  std::uint64_t tiles;
  std::chrono::nanoseconds fill = {};
  Stages stages;
  Ceilings ceilings = {};
};

std::string without_stop(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

Observation judge_run(Workbench& bench, Work work, NoStreams expected) {
  Recorder recorder({.capacity = 16 * work.tiles});
  work.options.watching.recorder = &recorder;
  Pipeline pipeline(bench.device(), work.options);
  Report const report = pipeline.run(GivenTiles(work.tiles, work.fill), work.stages, [](Completion&) {});
  if (!report.ok()) throw Error(ErrorKind::device_refused, describe(report));
  Recording const recording = recorder.take();
  auto const verdict = judge(figures_of(report, pipeline.options(), recording, bench.device()), work.ceilings);
  std::vector<Figure> figures{{"rate", verdict.bytes_per_second / 1e9, "GB/s"}};
  if (verdict.ceiling) figures.push_back({"what the bound allows", verdict.ceiling->bytes_per_second / 1e9, "GB/s"});
  auto judged = verdict_on_no_help(verdict, expected);
  if (!judged.as_expected && !verdict.no_advice.empty())
    judged = {.fact = without_stop(verdict.no_advice), .late = true};
  if (auto const late = too_slow_in(report.remarks); !late.empty()) judged = {.fact = without_stop(late), .late = true};
  return {drawn(recording, work.tiles, work.options.tile.output_bytes > 0), std::move(figures), std::move(judged)};
}

std::uint32_t blocks_that_fill(Device& device) {
  // A GPU's multiprocessor has room for two blocks of 1024 threads, or fewer.
  auto const info = device.info();
  return static_cast<std::uint32_t>(info.compute_units * (info.acts_as_gpu() ? 2 : 1));
}

/// A run with fewer tiles is not judged.
constexpr std::uint64_t enough_tiles = 36;

/// Kernels a second in enough streams that no more would run at once.
double kernels_alone(Workbench& bench, std::chrono::nanoseconds each, std::uint32_t blocks, Stamp* stamp) {
  constexpr int streams = 4, rounds = 3;
  std::vector<Stream> all;
  for (int i = 0; i < streams; ++i) all.push_back(bench.device().make_stream());
  auto const began = HostClock::now();
  for (int round = 0; round < rounds; ++round) {
    for (Stream const& stream : all) busy(each, blocks, stamp, stream);
  }
  for (Stream const& stream : all) stream.synchronize();
  return streams * rounds / std::chrono::duration<double>(HostClock::now() - began).count();
}

Observation fill_the_device(Workbench& bench) {
  auto const each = bench.kernel_time() / 30;
  Stamped const stamped(bench.device());
  std::uint32_t const blocks = blocks_that_fill(bench.device());
  return judge_run(bench,
                   {.options = one_lane(64 * kib, 0),
                    .tiles = enough_tiles,
                    .stages = on_device([&, stamp = stamped.stamp()](DeviceTile const&, StreamRef stream) {
                      busy(each, blocks, stamp, stream);
                    }),
                    .ceilings = {.kernel = kernels_alone(bench, each, blocks, stamped.stamp())}},
                   NoStreams::kernels_fill_device);
}

Observation fill_the_link(Workbench& bench) {
  // Tiles are so large that neither the lane nor the source keeps the link waiting.
  auto options = one_lane(8 * mib, 0);
  options.tuning.tiles = 6;
  std::uint64_t const tiles = bench.device().info().acts_as_gpu() ? 96 : enough_tiles;
  return judge_run(bench,
                   {.options = options, .tiles = tiles, .stages = on_device([](DeviceTile const&, StreamRef) {})},
                   NoStreams::link_full);
}

Observation wait_for_the_host(Workbench& bench) {
  return judge_run(bench,
                   {.options = one_lane(64 * kib, 64 * kib),
                    .tiles = enough_tiles,
                    .fill = bench.kernel_time() / 30,
                    .stages = on_device([](DeviceTile const&, StreamRef) {})},
                   NoStreams::host);
}

Observation cut_too_small(Workbench& bench) {
  constexpr std::size_t values = 256;
  DeviceMemory const counts = bench.device().allocate(values * sizeof(std::uint64_t));
  count_bytes_prepare(bench.device().make_stream());
  DeviceSpan<std::uint64_t> const counted = DeviceSpan<std::byte>(counts.bytes()).as<std::uint64_t>();
  auto options = one_lane(4 * kib, 0);
  options.tuning.slots = 32;
  options.tuning.tiles = 64;
  auto seen = judge_run(
      bench,
      {.options = options, .tiles = 1000, .stages = on_device([counted](DeviceTile const& tile, StreamRef stream) {
                                            count_bytes(tile.input, counted, stream);
                                          })},
      NoStreams::work_too_small);
  // On a model a host thread that wakes up late costs more than the calls of a stream.
  if (bench.device().info().kind == DeviceKind::cuda) {
    Observation batches = halves_of_small_batches(bench);
    std::ranges::move(batches.figures, std::back_inserter(seen.figures));
    bool const late = seen.verdict.late;
    seen.verdict = both(seen.verdict, batches.verdict);
    seen.verdict.late = late;
  }
  // On the CPU device the lane and the device are threads of the same CPUs, and either may be the slower one.
  if (!bench.device().info().acts_as_gpu()) {
    seen.verdict.as_expected = true;
    seen.verdict.late = false;
    seen.verdict.fact += "; on the CPU device that is told, not judged";
  }
  if (bench.device().info().kind != DeviceKind::cuda && !seen.verdict.late) {
    seen.verdict.fact += "; a batch and its halves in two streams are timed on a GPU only";
  }
  return seen;
}

Observation wait_in_the_stage(Workbench& bench) {
  auto const each = bench.kernel_time() / 30;
  Stamped const stamped(bench.device());
  return judge_run(bench,
                   {.options = one_lane(64 * kib, 64 * kib),
                    .tiles = enough_tiles,
                    .stages = on_device([&, stamp = stamped.stamp()](DeviceTile const&, StreamRef stream) {
                      busy(each, 1, stamp, stream);
                      bench.device().synchronize();
                    })},
                   NoStreams::barrier);
}

}  // namespace

Experiment no_help_kernel() {
  return {.name = "no-help-kernel",
          .expectation =
              "Of a pipeline whose kernels have as many blocks as the device has room for, the verdict says that "
              "kernels fill it.",
          .why = "Kernels in more streams wait until others end; a faster kernel helps, or a second GPU.",
          .claim = Claim::may,
          .run = fill_the_device};
}

Experiment no_help_link() {
  return {.name = "no-help-link",
          .expectation = "Of a pipeline that does little but copy, the verdict says that the link is full.",
          .why = "One direction has one copy engine and one link; fewer bytes help, or work where the data is.",
          .claim = Claim::may,
          .run = fill_the_link};
}

Experiment no_help_host() {
  return {.name = "no-help-host",
          .expectation =
              "Of a pipeline whose source takes longer for a tile than the device does, the verdict says that the "
              "device waits for the host.",
          .why = "A stream that has nothing to do does it no faster; more producers help, or a faster source.",
          .claim = Claim::may,
          .run = wait_for_the_host};
}

Experiment no_help_small() {
  return {
      .name = "no-help-small",
      .expectation =
          "Of a pipeline whose tiles are so small that calls take longer than work, the verdict says on a GPU and on "
          "its models that they are too small. On a GPU only, a small batch is also timed as two halves in two "
          "streams, which take longer than the whole in one.",
      .why = "More streams only take more calls; larger tiles help, or more of them at once.",
      .claim = Claim::may,
      .run = cut_too_small};
}

Experiment no_help_barrier() {
  return {.name = "no-help-barrier",
          .expectation = "Of a pipeline whose stage waits for the device, the verdict says that there is a barrier.",
          .why = "Whatever streams there are, all that comes behind a barrier waits for all that was before it.",
          .claim = Claim::may,
          .run = wait_in_the_stage};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
