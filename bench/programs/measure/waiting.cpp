// SPDX-License-Identifier: Apache-2.0
#include "waiting.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include <poll.h>

#include "engine/core/number_text.hpp"
#include "kernels/basic/busy.hpp"
#include "observe/option_table.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::measure {
namespace {

constexpr std::size_t usual_tile = std::size_t{16} << 10, mebibyte = std::size_t{1} << 20;

void wait(int milliseconds) {
  if (milliseconds > 0) poll(nullptr, 0, milliseconds);
}

Report run(Device& device, WaitingPipeline const& of, unsigned milliseconds, bool judged) {
  PipelineOptions options = of.options;
  if (judged) options.watching.hooks = {verdicts()};
  Pipeline pipeline(device, options);
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  class Waiting final : public Source {
   public:
    Waiting(std::chrono::steady_clock::time_point until, WaitingPipeline const& of)
        : until_(until), milliseconds_(of.source), numbers_(of.transforms) {}
    bool next(Tile&) override { return std::chrono::steady_clock::now() < until_; }
    std::size_t fill(Tile& tile) override {
      wait(milliseconds_);
      if (numbers_) {
        std::fill_n(reinterpret_cast<float*>(tile.input().data()), tile.input().size() / sizeof(float), 1.0F);
      }
      return tile.input().size();
    }

   private:
    std::chrono::steady_clock::time_point const until_;
    int const milliseconds_;
    bool const numbers_;
  } source(until, of);
  Report report =
      pipeline.run(source,
                   on_device(
                       [of](DeviceTile const& tile, StreamRef stream) {
                         wait(of.stage);
                         // Its stamp does not matter, and may lie where the results do.
                         auto* const stamp = reinterpret_cast<Stamp*>(tile.output.address());
                         if (of.kernel > 0) busy(std::chrono::milliseconds(of.kernel), 1, stamp, stream);
                         if (of.transforms)
                           transform(tile.input.as<float const>(), tile.sequence, tile.output.as<float>(), stream);
                         return tile.output.size();
                       },
                       of.promises),
                   [of](Completion&) { wait(of.sink); });
  if (!report.ok()) throw Error(ErrorKind::system, std::string(of.name) + ": " + describe(report));
  return report;
}

double bytes_per_second(Report const& report) {
  return static_cast<double>(report.bytes_in) / std::chrono::duration<double>(report.wall).count();
}

/// The pipeline with the members set that the advice names, or with the promise; empty if it is to change other work.
std::optional<WaitingPipeline> with(WaitingPipeline pipeline, std::string_view change) {
  PipelineOptions& options = pipeline.options;
  auto const value_behind = [&](std::string const& name) {
    std::size_t const at = change.find(name);
    if (at == std::string_view::npos) return std::string();
    std::string_view const rest = change.substr(at + name.size());
    return std::string(rest.substr(0, rest.find_first_of(", ")));
  };
  bool any = false;
  for (OptionRow const& row : option_table()) {
    std::string value = value_behind(row.kind == OptionKind::size ? "a tile of " : row.member() + " = ");
    if (value.empty()) continue;
    if (std::size_t const scope = value.rfind("::"); scope != std::string::npos) value.erase(0, scope + 2);
    row.set(options, value);
    any = true;
  }
  if (change.find("(parallel_sink)") != std::string_view::npos) options.parallel_sink = true;
  if (change.find("promises reads_once") != std::string_view::npos) any = pipeline.promises.reads_once = true;
  return any ? std::optional(std::move(pipeline)) : std::nullopt;
}

}  // namespace

std::vector<WaitingPipeline> waiting_pipelines() {
  TileShape const tile{.input_bytes = usual_tile, .output_bytes = usual_tile, .in_place = true};
  return {
      {.name = "one producer waits", .source = 1, .options = {.tile = tile, .producers = 1}},
      {.name = "two producers wait", .source = 3, .options = {.tile = tile, .producers = 2}},
      {.name = "three producers wait", .source = 4, .options = {.tile = tile, .producers = 3}},
      {.name = "producer waits, sink half of it", .source = 4, .sink = 2, .options = {.tile = tile, .producers = 1}},
      {.name = "sink waits", .sink = 2, .options = {.tile = tile, .producers = 1, .consumers = 1}},
      {.name = "two calls of the sink wait",
       .sink = 4,
       .options = {.tile = tile, .producers = 1, .consumers = 2, .parallel_sink = true}},
      {.name = "sink waits, source half of it", .source = 2, .sink = 4, .options = {.tile = tile, .producers = 1}},
      {.name = "one tile for source and sink",
       .source = 2,
       .sink = 2,
       .options = {.tile = tile, .producers = 1, .consumers = 1, .tuning = {.tiles = 1}}},
      {.name = "one tile for three",
       .source = 2,
       .kernel = 2,
       .sink = 2,
       .options = {.tile = tile, .producers = 1, .consumers = 1, .tuning = {.tiles = 1}}},
      {.name = "one tile, source twice the sink",
       .source = 4,
       .sink = 2,
       .options = {.tile = tile, .producers = 1, .consumers = 1, .tuning = {.tiles = 1}}},
      {.name = "three calls of the sink wait",
       .sink = 6,
       .options = {.tile = tile, .producers = 1, .consumers = 3, .parallel_sink = true}},
      {.name = "two tiles for three",
       .source = 2,
       .kernel = 2,
       .sink = 2,
       .options = {.tile = tile, .producers = 1, .consumers = 1, .tuning = {.tiles = 2}}},
      {.name = "copies in vain",
       .transforms = true,
       .options = {.tile = {.input_bytes = mebibyte, .output_bytes = mebibyte}}},
      // Waits of a lane in a stage are timed as a kernel, which more lanes may not help: no option is advised.
      {.name = "a stage holds its lane", .stage = 2, .options = {.tile = tile, .producers = 1, .lanes = 1}},
      {.name = "a stage holds two lanes", .stage = 4, .options = {.tile = tile, .producers = 1, .lanes = 2}}};
}

FollowedByAProgram follow_as_a_program(Device& device, WaitingPipeline const& pipeline, unsigned rounds,
                                       unsigned milliseconds) {
  FollowedByAProgram result;
  Report const judged = run(device, pipeline, milliseconds, true);
  if (judged.verdict == nullptr) return result;
  result.bound = std::string(bound_name(judged.verdict->bound));
  result.verdict = describe(*judged.verdict);
  for (Advice const& advice : judged.verdict->advice) {
    auto const followed = with(pipeline, advice.change);
    if (!followed) continue;
    result.change = advice.change;
    result.promised = advice.gain;
    for (unsigned round = 0; round < rounds; ++round) {
      double const before = bytes_per_second(run(device, pipeline, milliseconds, false));
      result.gained.push_back(bytes_per_second(run(device, *followed, milliseconds, false)) / before);
    }
    break;
  }
  return result;
}

}  // namespace penstock::measure
