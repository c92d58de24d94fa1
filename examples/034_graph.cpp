// SPDX-License-Identifier: Apache-2.0
// A oneTBB graph that a program has, with the lanes of a pipeline as one node: a filter before it sends tiles home, two
// nodes behind it get each result.
#include <algorithm>
#include <atomic>
#include <cstdio>

#include <penstock/graph.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
namespace flow = oneapi::tbb::flow;

int main() try {
  constexpr std::size_t per_tile = 1 << 14, count = 200;
  Devices const devices = open_devices();
  auto const stage = on_device([](DeviceTileOf<float> tile, StreamRef stream) {
    transform(tile.input, tile.tag * per_tile, tile.output, stream);
  });

  flow::graph graph;
  Lanes<float> lanes(graph, devices, {.tile = tile_of<float>(per_tile)}, stage);
  using Message = Tiles<float>;

  flow::function_node<Message, Message> decode(graph, flow::unlimited, [](Message const& tiles) {
    bool const empty = tiles[0].tag() % 4 == 3;  // Every fourth has nothing in it.
    std::ranges::fill(tiles.room(), 1.0F);
    tiles.set_filled(0, empty ? 0 : tiles.room().size());
    return tiles;
  });
  // A message without tiles passes the lanes, too.
  flow::function_node<Message, Message> filter(graph, flow::unlimited, [](Message const& tiles) {
    return drop_if(tiles, [](TileResult<float> tile) { return tile.input().empty(); });
  });
  double worst = 0;
  flow::function_node<Message> check(graph, flow::serial, [&](Message const& tiles) {
    if (tiles.empty()) return;
    TileResult<float> const tile = tiles[0];
    worst = std::max<double>(worst, transform_error(tile.input(), tile.tag() * per_tile, tile.output()));
  });
  std::atomic<std::size_t> archived{0};
  flow::function_node<Message> archive(graph, flow::unlimited, [&](Message const& tiles) { archived += tiles.size(); });

  flow::make_edge(decode, filter);
  flow::make_edge(filter, lanes.input());
  flow::make_edge(lanes.output(), check);
  flow::make_edge(lanes.output(), archive);

  for (std::size_t number = 0; number < count; ++number) {
    Message const tiles = lanes.borrow();  // Waits here while all tiles are out: that is the back-pressure.
    tiles.set_tag(0, number);
    decode.try_put(tiles);
  }
  graph.wait_for_all();
  Report const report = lanes.finish();
  std::printf("%s\n%zu tiles archived, largest error %.1e\n", describe(report).c_str(), archived.load(), worst);
  return report.ok() && archived == count / 4 * 3 && worst < 1e-5 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
