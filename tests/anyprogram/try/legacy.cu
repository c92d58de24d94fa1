// SPDX-License-Identifier: Apache-2.0
// legacy CASE [COUNT [STREAMS]]: programs as people write them who name no stream, for `penstock try` on a GPU. They
// know nothing of penstock. Compiled for the legacy default stream, with the runtime linked statically or shared, and
// per-thread.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(4);
}

/// About a millisecond by one thread of the device for 100,000 rounds.
__global__ void step(int* value, int rounds) {
  int result = *value;
  for (int i = 0; i < rounds; ++i) result = result * 3 + i;
  *value = result;
}

__global__ void hold(long long clocks) {
  long long const begin = clock64();
  while (clock64() - begin < clocks) continue;
}

template <class T>
T* pinned(std::size_t count) {
  T* memory = nullptr;
  check(cudaHostAlloc(reinterpret_cast<void**>(&memory), count * sizeof(T), cudaHostAllocDefault));
  return memory;
}
template <class T>
T* on_device(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&memory), count * sizeof(T)));
  return memory;
}

/// A small copy up, a kernel and a small copy down, `steps` times.
void work(cudaStream_t stream, int id, int steps, unsigned& sum) {
  int* const host = pinned<int>(1);
  int* const device = on_device<int>(1);
  *host = id;
  for (int i = 0; i < steps; ++i) {
    check(cudaMemcpyAsync(device, host, sizeof *host, cudaMemcpyHostToDevice, stream));
    step<<<1, 1, 0, stream>>>(device, 100'000);
    check(cudaMemcpyAsync(host, device, sizeof *host, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    sum += static_cast<unsigned>(*host);
  }
}

void threads(int count, int steps, bool own) {
  check(cudaFree(nullptr));
  std::vector<unsigned> sums(count);
  std::vector<std::thread> all;
  for (int id = 0; id < count; ++id) {
    all.emplace_back([=, &sums] {
      cudaStream_t stream = nullptr;
      if (own) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      work(stream, id, steps, sums[id]);
    });
  }
  unsigned sum = 0;
  for (int id = 0; id < count; ++id) {
    all[id].join();
    sum += sums[id];
  }
  std::printf("%u\n", sum);
}

/// One thread copies up behind a kernel, another copies the same bytes down; an event orders them, or the fence alone.
void fence(bool by_event) {
  int* const from = pinned<int>(1024);
  int* const to = pinned<int>(1024);
  int* const device = on_device<int>(1024);
  cudaEvent_t event;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  check(cudaMemset(device, 0, 4096));
  hold<<<1, 1>>>(1);
  check(cudaDeviceSynchronize());
  from[7] = 7;
  std::promise<void> enqueued;
  std::thread first([&] {
    hold<<<1, 1>>>(200'000'000);
    check(cudaMemcpyAsync(device, from, 4096, cudaMemcpyHostToDevice, nullptr));
    check(cudaEventRecord(event, nullptr));
    enqueued.set_value();
  });
  enqueued.get_future().wait();
  if (by_event) check(cudaStreamWaitEvent(nullptr, event, 0));
  check(cudaMemcpyAsync(to, device, 4096, cudaMemcpyDeviceToHost, nullptr));
  check(cudaStreamSynchronize(nullptr));
  first.join();
  check(cudaDeviceSynchronize());
  std::printf("%d\n", to[7]);
}

/// Empty kernels, in a stream of its own: what enqueuing them costs.
void launches(int count) {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < count; ++i) hold<<<1, 1, 0, stream>>>(0);
  check(cudaStreamSynchronize(stream));
  std::printf("%d\n", count);
}

/// Kernels of 10 us with a copy of 64 KiB each: prints seconds.
void short_work(int count, std::size_t streams) {
  constexpr std::size_t bytes = 64 << 10;
  char* const host = pinned<char>(bytes * streams);
  char* const device = on_device<char>(bytes * streams);
  std::vector<cudaStream_t> stream(streams);
  for (cudaStream_t& one : stream) check(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  hold<<<1, 1>>>(1);
  check(cudaDeviceSynchronize());
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    std::size_t const slot = i % streams;
    check(cudaMemcpyAsync(device + slot * bytes, host + slot * bytes, bytes, cudaMemcpyHostToDevice, stream[slot]));
    hold<<<1, 1, 0, stream[slot]>>>(17'000);
    // Waits as a program that hands buffers round would.
    if (i % 64 == 63) check(cudaStreamSynchronize(stream[slot]));
  }
  check(cudaDeviceSynchronize());
  std::printf("%.4f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace

int main(int count, char** arguments) {
  std::string const what = count > 1 ? arguments[1] : "";
  int const number = count > 2 ? std::atoi(arguments[2]) : 0;
  if (what == "threads")
    threads(8, number != 0 ? number : 200, false);
  else if (what == "one")
    threads(1, number != 0 ? number : 200, false);
  else if (what == "own")
    threads(8, number != 0 ? number : 200, true);
  else if (what == "fence")
    fence(false);
  else if (what == "event")
    fence(true);
  else if (what == "launches")
    launches(number != 0 ? number : 1'000'000);
  else if (what == "short")
    short_work(number != 0 ? number : 100'000, count > 3 ? std::atoi(arguments[3]) : 4);
  else {
    std::fprintf(stderr, "legacy threads|one|own|fence|event|launches|short [COUNT [STREAMS]]\n");
    return 2;
  }
  return 0;
}
