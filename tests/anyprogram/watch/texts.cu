// SPDX-License-Identifier: Apache-2.0
// The programs of the texts on streams, each with the fault that they warn of: `texts CASE`. They know nothing of
// penstock, and are compiled for the legacy default stream.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr std::size_t tile = std::size_t{4} << 20, tiles = 64, streams = 4;

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(4);
}

/// About as long as a copy of its tile.
__global__ void compute(float* data, std::size_t count, int rounds) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x) {
    float value = data[i];
    for (int round = 0; round < rounds; ++round) value = value * 1.0001f + 0.5f;
    data[i] = value;
  }
}
__global__ void mark(int* flag) {
  *flag = 1;
}

struct World {
  char* host = nullptr;
  char* device = nullptr;
  int* flag = nullptr;
  std::vector<cudaStream_t> stream;

  World(bool pinned, unsigned flags) : stream(streams) {
    if (pinned) {
      check(cudaHostAlloc(reinterpret_cast<void**>(&host), tile * tiles, cudaHostAllocDefault));
    } else {
      host = static_cast<char*>(std::malloc(tile * tiles));
    }
    for (std::size_t i = 0; i < tile * tiles; i += 4096) host[i] = 1;
    check(cudaMalloc(reinterpret_cast<void**>(&device), tile * tiles));
    check(cudaMalloc(reinterpret_cast<void**>(&flag), sizeof *flag));
    for (cudaStream_t& one : stream) check(cudaStreamCreateWithFlags(&one, flags));
    // Loaded before it counts.
    compute<<<1, 1>>>(reinterpret_cast<float*>(device), 0, 0);
    mark<<<1, 1>>>(flag);
    check(cudaDeviceSynchronize());
  }
  void up(std::size_t i, cudaStream_t in) {
    check(cudaMemcpyAsync(device + i * tile, host + i * tile, tile, cudaMemcpyHostToDevice, in));
  }
  void work(std::size_t i, cudaStream_t in) {
    compute<<<64, 256, 0, in>>>(reinterpret_cast<float*>(device + i * tile), tile / sizeof(float), 32);
    check(cudaGetLastError());
  }
  void down(std::size_t i, cudaStream_t in) {
    check(cudaMemcpyAsync(host + i * tile, device + i * tile, tile, cudaMemcpyDeviceToHost, in));
  }
  cudaStream_t of(std::size_t i) const { return stream[i % streams]; }
};

void depth_first(World& world) {
  for (std::size_t i = 0; i < tiles; ++i) {
    world.up(i, world.of(i));
    world.work(i, world.of(i));
    world.down(i, world.of(i));
  }
}

}  // namespace

/// Graphs in the default stream that copy tiles up: one in a child graph, one by a node that is changed, one by a node
/// that is replaced. Behind them four tiles are copied down in another stream, of which no graph copies the second.
void graphs(World& world) {
  auto const copies_up = [&](cudaGraph_t graph, std::size_t i) {
    cudaGraphNode_t node;
    check(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, world.device + i * tile, world.host + i * tile, tile,
                                   cudaMemcpyHostToDevice));
    return node;
  };
  cudaGraph_t child, parent, own, other;
  for (cudaGraph_t* const graph : {&child, &parent, &own, &other}) check(cudaGraphCreate(graph, 0));
  cudaGraphExec_t of_parent, of_own;
  copies_up(child, 0);
  cudaGraphNode_t node;
  check(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
  check(cudaGraphInstantiate(&of_parent, parent, 0));
  check(cudaGraphLaunch(of_parent, nullptr));
  node = copies_up(own, 1);
  check(cudaGraphInstantiate(&of_own, own, 0));
  check(cudaGraphExecMemcpyNodeSetParams1D(of_own, node, world.device + 2 * tile, world.host + 2 * tile, tile,
                                           cudaMemcpyHostToDevice));
  check(cudaGraphLaunch(of_own, nullptr));
  copies_up(other, 3);
  cudaGraphExecUpdateResultInfo result;
  check(cudaGraphExecUpdate(of_own, other, &result));
  check(cudaGraphLaunch(of_own, nullptr));
  for (std::size_t i = 0; i < 4; ++i) world.down(i, world.of(0));
  check(cudaDeviceSynchronize());
}

int main(int count, char** arguments) {
  std::string const what = count > 1 ? arguments[1] : "";
  if (what == "serial") {
    World world(true, cudaStreamNonBlocking);
    for (std::size_t i = 0; i < tiles; ++i) {
      check(cudaMemcpy(world.device + i * tile, world.host + i * tile, tile, cudaMemcpyHostToDevice));
      world.work(i, nullptr);
      check(cudaMemcpy(world.host + i * tile, world.device + i * tile, tile, cudaMemcpyDeviceToHost));
    }
  } else if (what == "pageable") {
    World world(false, cudaStreamNonBlocking);
    depth_first(world);
    check(cudaDeviceSynchronize());
  } else if (what == "stray") {
    World world(true, cudaStreamDefault);
    for (std::size_t i = 0; i < tiles; ++i) {
      world.up(i, world.of(i));
      world.work(i, world.of(i));
      world.down(i, world.of(i));
      mark<<<1, 1>>>(world.flag);
    }
    check(cudaDeviceSynchronize());
  } else if (what == "host_blocks") {
    World world(true, cudaStreamNonBlocking);
    for (std::size_t i = 0; i < tiles; ++i) {
      world.up(i, world.of(i));
      world.work(i, world.of(i));
      world.down(i, world.of(i));
      check(cudaStreamSynchronize(world.of(i)));
    }
  } else if (what == "depth_first") {
    World world(true, cudaStreamNonBlocking);
    depth_first(world);
    check(cudaDeviceSynchronize());
  } else if (what == "breadth_first") {
    World world(true, cudaStreamNonBlocking);
    for (std::size_t first = 0; first < tiles; first += streams) {
      for (std::size_t i = first; i < first + streams; ++i) world.up(i, world.of(i));
      for (std::size_t i = first; i < first + streams; ++i) world.work(i, world.of(i));
      for (std::size_t i = first; i < first + streams; ++i) world.down(i, world.of(i));
    }
    check(cudaDeviceSynchronize());
  } else if (what == "hazard" || what == "ordered") {
    World world(true, cudaStreamDefault);
    cudaEvent_t event;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    world.up(0, nullptr);
    if (what == "ordered") {
      check(cudaEventRecord(event, nullptr));
      check(cudaStreamWaitEvent(world.of(0), event, 0));
    }
    world.down(0, world.of(0));
    check(cudaDeviceSynchronize());
  } else if (what == "graphs") {
    World world(true, cudaStreamDefault);
    graphs(world);
  } else {
    std::fprintf(stderr, "texts serial|pageable|stray|host_blocks|depth_first|breadth_first|hazard|ordered|graphs\n");
    return 2;
  }
  return 0;
}
