// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "baselines.hpp"
#include "tile_on_gpu.hpp"
#include <tbb/flow_graph.h>

namespace {

using namespace baselines;
using Gpu = tbb::flow::async_node<unsigned, unsigned>;

struct Token {
  Token(Work const& work, unsigned number) : on_gpu(work), tile(number) {}
  TileOnGpu on_gpu;
  Stream stream;
  unsigned const tile;
  Gpu::gateway_type* gateway = nullptr;
  cudaError_t status = cudaSuccess;
};

void CUDART_CB landed(cudaStream_t, cudaError_t status, void* it) {
  auto& token = *static_cast<Token*>(it);
  Gpu::gateway_type& gateway = *token.gateway;
  token.status = status;
  gateway.try_put(token.tile);
  gateway.release_wait();
}

}  // namespace

void baselines::tbb_flow_graph(Work& work, unsigned tokens) {
  std::deque<Token> all;
  for (unsigned tile = 0; tile < tokens; ++tile) all.emplace_back(work, tile);
  tbb::flow::graph graph;
  Gpu gpu(graph, tbb::flow::unlimited, [&](unsigned tile, Gpu::gateway_type& gateway) {
    Token& token = all[tile];
    token.gateway = &gateway;
    gateway.reserve_wait();
    try {
      token.on_gpu.enqueue(work, tile, token.stream);
      check(cudaStreamAddCallback(token.stream, landed, &token, 0));
    } catch (...) {
      gateway.release_wait();
      throw;
    }
  });
  tbb::flow::function_node<unsigned> host(graph, tbb::flow::unlimited, [&](unsigned tile) {
    check(all[tile].status);
    work.done(tile);
    if (work.more()) gpu.try_put(tile);
  });
  tbb::flow::make_edge(gpu, host);
  for (unsigned tile = 0; tile < tokens; ++tile) gpu.try_put(tile);
  graph.wait_for_all();
}
