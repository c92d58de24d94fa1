// SPDX-License-Identifier: Apache-2.0
// graph_launch.cpp in plain CUDA: a captured stream becomes a graph, and the graph something that can be launched.
#include <cstdio>

#include "check.cuh"

__global__ void add_one(float* values) {
  values[threadIdx.x] += 1;
}

int main() {
  constexpr int size = 1024, kernels = 20, launches = 3;
  constexpr std::size_t bytes = size * sizeof(float);
  float *host, *values;
  cudaStream_t stream;
  check(cudaMallocHost(&host, bytes));
  check(cudaMalloc(&values, bytes));
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < size; ++i) host[i] = 1;

  // Calls of this thread that cannot be captured, such as cudaMalloc, fail until the capture ends.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  check(cudaMemcpyAsync(values, host, bytes, cudaMemcpyHostToDevice, stream));
  for (int i = 0; i < kernels; ++i) {
    add_one<<<1, size, 0, stream>>>(values);
    check(cudaGetLastError());
  }
  check(cudaMemcpyAsync(host, values, bytes, cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphDestroy(graph));

  for (int i = 0; i < launches; ++i) check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
  bool right = true;
  for (int i = 0; i < size; ++i) right = right && host[i] == 1 + launches * kernels;
  std::printf("values[0] = %.1f: %s\n", host[0], right ? "right" : "wrong");

  check(cudaGraphExecDestroy(executable));
  check(cudaStreamDestroy(stream));
  check(cudaFree(values));
  check(cudaFreeHost(host));
  return right ? 0 : 1;
}
