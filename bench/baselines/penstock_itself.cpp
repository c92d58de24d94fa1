// SPDX-License-Identifier: Apache-2.0
#include "affine.hpp"
#include "contestant.hpp"
#include "cuda.hpp"

#include "engine/core/pool.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"

namespace baselines {
namespace {

using namespace penstock;

/// Maximum bytes that one step of the search may pin.
constexpr std::size_t most_bytes_in_flight = std::size_t{1} << 30;

std::span<float> floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

/// Gives tiles that are full already, for as long as the referee wants more.
class FullTiles final : public Source {
 public:
  explicit FullTiles(Referee const& referee) : referee_(referee) {}
  bool next(Tile&) override { return referee_.more(); }
  std::size_t fill(Tile& tile) override { return tile.input().size(); }

 private:
  Referee const& referee_;
};

void run_penstock(Device& device, PipelineOptions const& options, Referee& referee) {
  Pipeline pipeline(device, options);
  for (std::size_t i = 0; i < pipeline.pool().size(); ++i) {
    fill(floats(pipeline.pool().tile(i).input()), static_cast<std::uint32_t>(i * referee.floats()));
  }
  FullTiles source(referee);
  auto const stage = on_device(
      [](DeviceTile const& tile, StreamRef stream) {
        auto const input = tile.input.as<float>();
        check(affine(tile.output.as<float>().address(), input.address(), input.size(), cuda_stream(stream)));
      },
      {.elementwise = true});
  Report const report = pipeline.run(source, stage, [&](Completion& done) {
    done.ok() ? referee.came(done.loan->index(), floats(done.loan->output())) : referee.object("a tile failed");
  });
  if (!report.ok()) throw std::runtime_error("penstock: " + describe(report));
}

PipelineOptions default_options(std::size_t bytes) {
  PipelineOptions options;
  options.tile = {.input_bytes = bytes, .output_bytes = bytes};
  return options;
}

/// The options that are not at their defaults.
std::string in_words(PipelineOptions const& options) {
  PipelineOptions const defaults;
  std::string words;
  auto const add = [&](std::string const& word) { words += (words.empty() ? "" : ", ") + word; };
  if (options.lanes != defaults.lanes) add("lanes " + std::to_string(options.lanes));
  if (options.tuning.shape != defaults.tuning.shape) add(std::string(to_string(options.tuning.shape)));
  if (options.tuning.sink_on_lanes != defaults.tuning.sink_on_lanes) add("sink on lanes");
  if (options.tuning.signal != defaults.tuning.signal) add(std::string(to_string(options.tuning.signal)));
  if (options.tuning.slots != defaults.tuning.slots) add("slots " + std::to_string(options.tuning.slots));
  if (options.producers != defaults.producers) add("producers " + std::to_string(options.producers));
  if (options.tuning.borrow_spin != defaults.tuning.borrow_spin) {
    add("borrow spin " + std::to_string(options.tuning.borrow_spin->count()) + " us");
  }
  return words.empty() ? "as they are by default" : words;
}

Way way_of(Device& device, PipelineOptions const& options);

/// Ways that differ in one option.
std::vector<Way> ways_near(Device& device, PipelineOptions const& options, unsigned step) {
  std::vector<Way> ways;
  PipelineOptions other = options;
  if (step == 1) {
    std::size_t const most = most_bytes_in_flight / (2 * options.tile.input_bytes) / options.lanes;
    for (unsigned const slots : {4U, 8U, 16U, 64U, 128U, 256U, 512U, 1024U}) {
      other.tuning.slots = slots;
      if (slots <= most) ways.push_back(way_of(device, other));
    }
  } else if (step == 2) {
    for (SignalKind const signal : {SignalKind::event_poll, SignalKind::flag, SignalKind::event_block}) {
      other.tuning.signal = signal;
      ways.push_back(way_of(device, other));
    }
  } else if (step == 3) {
    for (unsigned const producers : {0U, 1U, 2U, 4U}) {
      for (auto const watched : {std::chrono::microseconds(0), std::chrono::microseconds(20)}) {
        other.producers = producers;
        other.tuning.borrow_spin = watched;
        ways.push_back(way_of(device, other));
      }
    }
  }
  return ways;
}

Way way_of(Device& device, PipelineOptions const& options) {
  return {.knobs = in_words(options),
          .tiles = 0,
          .run = [&device, options](Referee& referee) { run_penstock(device, options, referee); },
          .near = [&device, options](unsigned step) { return ways_near(device, options, step); }};
}

std::vector<Way> swept(Device& device, std::size_t bytes) {
  std::vector<Way> ways;
  PipelineOptions options = default_options(bytes);
  for (options.lanes = 1; options.lanes <= 8; options.lanes *= 2) {
    for (LaneShape const shape : {LaneShape::split, LaneShape::single}) {
      for (bool const on_lanes : {false, true}) {
        options.tuning.shape = shape;
        options.tuning.sink_on_lanes = on_lanes;
        ways.push_back(way_of(device, options));
      }
    }
  }
  return ways;
}

}  // namespace

std::vector<Contestant> penstock_itself(Device& device) {
  auto const as_it_is = [&device](std::size_t bytes) {
    Way way = way_of(device, default_options(bytes));
    way.near = {};
    return std::vector<Way>{way};
  };
  return {{"penstock, by default", true, as_it_is},
          {"penstock, tuned", true, [&device](std::size_t bytes) { return swept(device, bytes); }}};
}

}  // namespace baselines
