// SPDX-License-Identifier: Apache-2.0
// Pipelines for which more streams would change nothing, and what the verdict says. Arguments: a device, and the
// reason: host, link, small or barrier.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/observe.hpp>
#include <penstock/penstock.hpp>

using namespace penstock;

int main(int count, char** arguments) try {
  Devices const devices = open_devices(count > 1 ? arguments[1] : "auto");
  std::string_view const reason = count > 2 ? arguments[2] : "host";
  bool const small = reason == "small", large = reason == "link";
  std::size_t const size = small ? 1024 : large ? std::size_t{2} << 20 : std::size_t{1} << 16;
  PipelineOptions options{.tile = tile_of<float, void>(size), .producers = 1, .lanes = 1};
  options.tuning.batch = 1;
  options.watching.hooks = {verdicts()};
  Pipeline pipeline(devices, options);

  // For "host" each tile is filled many times, which simulates work. For the others its content does not matter.
  int const rounds = reason == "host" ? 200 : 0;
  auto const fill = [rounds](TilePlace, std::span<float> input) {
    for (int round = 0; round < rounds; ++round) std::ranges::fill(input, static_cast<float>(round));
    return input.size();
  };
  Device& device = devices.front();
  auto const stage = on_device([&](DeviceTile const& tile, StreamRef stream) {
    auto const values = tile.input.as<float>();
    if (!large) transform(values, 0, values, stream);
    if (reason == "barrier") device.synchronize();  // All that comes behind it waits for all that was before it.
  });
  Report const report = pipeline.run(generate(small ? 2000 : 200, fill), stage, [](TileResult<>) {});

  auto const& verdict = report.verdict;
  std::printf("%s\n", verdict == nullptr               ? "no verdict"
                      : verdict->streams_will_not_help ? verdict->streams_will_not_help->sentence.c_str()
                                                       : describe(*verdict).c_str());
  return report.ok() && verdict != nullptr ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
