// SPDX-License-Identifier: Apache-2.0
// A program that has a oneTBB graph already, from images to brightness, gets a device in the middle of it: spare tiles
// come as messages and are joined with images, so no node waits.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <penstock/graph.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
namespace flow = oneapi::tbb::flow;

using Image = std::pair<std::uint64_t, std::vector<std::uint8_t>>;  // The program's own message: a number, and pixels.

int main() try {
  constexpr std::size_t pixels = 4096, images = 500;
  flow::graph graph;

  // The program has a node that makes images, and one that takes the brightness of each.
  flow::input_node<Image> camera(graph, [number = ~std::uint64_t{0}](oneapi::tbb::flow_control& control) mutable {
    if (++number == images) return control.stop(), Image();
    return Image{number, std::vector<std::uint8_t>(pixels, static_cast<std::uint8_t>(number))};
  });
  std::size_t right = 0;
  flow::function_node<std::pair<std::uint64_t, double>> brightness(
      graph, flow::serial, [&](auto const& of) { right += of.second == 255 - of.first % 256 ? 1 : 0; });

  // The lanes are new, and so are a node that fills spare tiles and one that reads results.
  auto const device = open_device("cpu");
  auto const invert = on_device([](DeviceTileOf<std::uint8_t> tile, StreamRef stream) {
    stream.launch(1, [=](KernelBlock block) {
      std::ranges::transform(tile.input.in(block), tile.output.in(block).begin(), std::bit_not<std::uint8_t>());
    });
  });
  Lanes<std::uint8_t> lanes(graph, *device, {.tile = tile_of<std::uint8_t>(pixels)}, invert);
  using Message = Tiles<std::uint8_t>;
  flow::queue_node<Message> spare(graph);
  flow::join_node<std::tuple<Image, Message>, flow::reserving> join(graph);
  flow::function_node<std::tuple<Image, Message>, Message> fill(graph, flow::unlimited, [](auto const& pair) {
    auto const& [image, tiles] = pair;
    std::ranges::copy(image.second, tiles.room().begin());
    tiles.set_filled(0, image.second.size());
    tiles.set_tag(0, image.first);
    return tiles;
  });
  flow::function_node<Message, std::pair<std::uint64_t, double>> mean(graph, flow::unlimited, [](Message const& tiles) {
    auto const output = tiles[0].output();
    return std::pair(tiles[0].tag(), std::accumulate(output.begin(), output.end(), 0.0) / pixels);
  });

  flow::make_edge(camera, flow::input_port<0>(join));
  flow::make_edge(lanes.spare(), spare);
  flow::make_edge(spare, flow::input_port<1>(join));
  flow::make_edge(join, fill);
  flow::make_edge(fill, lanes.input());
  flow::make_edge(lanes.output(), mean);
  flow::make_edge(mean, brightness);

  lanes.lend();
  camera.activate();
  graph.wait_for_all();
  Report const report = lanes.finish();
  std::printf("%s\n%zu images are right\n", describe(report).c_str(), right);
  return report.ok() && right == images ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
