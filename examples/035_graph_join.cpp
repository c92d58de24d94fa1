// SPDX-License-Identifier: Apache-2.0
// One piece of work goes to two stages on two devices, and their results are joined: A + B -> C. Name two devices, as
// in cuda:0,cuda:1; unnamed they are two CPU devices.
#include <algorithm>
#include <cstdio>
#include <tuple>

#include <penstock/graph.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
namespace flow = oneapi::tbb::flow;

int main(int count, char** arguments) try {
  constexpr std::size_t per_tile = 1 << 12, pieces = 100;
  Devices const devices = open_devices(count > 1 ? arguments[1] : "cpu,cpu");
  if (devices.size() < 2) return std::fprintf(stderr, "Name two devices, as in cpu,cpu.\n"), 1;
  auto const near =
      on_device([](DeviceTileOf<float> tile, StreamRef stream) { transform(tile.input, 0, tile.output, stream); });
  auto const far = on_device(
      [](DeviceTileOf<float> tile, StreamRef stream) { transform(tile.input, 1 << 20, tile.output, stream); });

  flow::graph graph;
  PipelineOptions const options{.tile = tile_of<float>(per_tile)};
  Lanes<float> a(graph, *devices.all()[0], options, near);
  Lanes<float> b(graph, *devices.all()[1], options, far);
  using Message = Tiles<float>;

  // Both tiles of a piece have its number.
  auto const number = [](Message const& tiles) { return tiles[0].tag(); };
  flow::join_node<std::tuple<Message, Message>, flow::key_matching<std::uint64_t>> join(graph, number, number);
  std::size_t joined = 0, right = 0;
  flow::function_node<std::tuple<Message, Message>> c(graph, flow::serial, [&](auto const& pair) {
    auto const& [left, other] = pair;
    ++joined;
    bool const same = std::ranges::equal(left[0].input(), other[0].input());
    double const error = std::max<double>(transform_error(left[0].input(), 0, left[0].output()),
                                          transform_error(other[0].input(), 1 << 20, other[0].output()));
    if (same && error < 1e-5) ++right;
  });
  flow::make_edge(a.output(), flow::input_port<0>(join));
  flow::make_edge(b.output(), flow::input_port<1>(join));
  flow::make_edge(join, c);

  for (std::size_t piece = 0; piece < pieces; ++piece) {
    for (Lanes<float>* const lanes : {&a, &b}) {
      Message const tiles = lanes->borrow();
      std::ranges::fill(tiles.room(), 1.0F);
      tiles.set_filled(0, per_tile);
      tiles.set_tag(0, piece);
      lanes->input().try_put(tiles);
    }
  }
  graph.wait_for_all();
  bool const well = a.finish().ok() && b.finish().ok();
  std::printf("%zu pieces joined, %zu right\n", joined, right);
  return well && joined == pieces && right == pieces ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
