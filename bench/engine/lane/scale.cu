// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "scale.hpp"
#include <cuda_runtime_api.h>

namespace {

constexpr unsigned block = 256;

__global__ void scale_kernel(float* values, std::size_t count) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) values[i] = 2 * values[i] + 1;
}

__device__ unsigned long long gpu_now() {
  unsigned long long time = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time)::"memory");
  return time;
}

__global__ void note_kernel(unsigned long long volatile* stamp) {
  *stamp = gpu_now();
}

/// Answers each change of *question with the time in *answer, until it is 0.
__global__ void answer_kernel(unsigned long long volatile* question, unsigned long long volatile* answer) {
  unsigned long long last = 1;
  for (;;) {
    unsigned long long const now = *question;
    if (now == last) continue;
    if (now == 0) return;
    last = now;
    *answer = gpu_now();
    __threadfence_system();
  }
}

std::int64_t host_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + block - 1) / block);
}

/// One thread's share, as it would be written by hand.
class ByHand {
 public:
  ByHand(std::byte* host, std::size_t bytes, unsigned depth, bool split, bool default_stream)
      : host_(host), bytes_(bytes), depth_(depth), split_(split), slots_(depth) {
    bool well = true;
    if (!default_stream) well = cudaStreamCreateWithFlags(&compute_, cudaStreamNonBlocking) == cudaSuccess;
    up_ = down_ = compute_;
    if (split) {
      well = cudaStreamCreateWithFlags(&up_, cudaStreamNonBlocking) == cudaSuccess && well;
      well = cudaStreamCreateWithFlags(&down_, cudaStreamNonBlocking) == cudaSuccess && well;
    }
    for (Slot& slot : slots_) {
      well = cudaMalloc(&slot.memory, bytes) == cudaSuccess && well;
      for (cudaEvent_t* event : {&slot.uploaded, &slot.computed, &slot.landed})
        well = cudaEventCreateWithFlags(event, cudaEventDisableTiming) == cudaSuccess && well;
    }
    well_ = well;
  }
  ~ByHand() {
    cudaStreamSynchronize(down_);
    for (Slot& slot : slots_) {
      cudaFree(slot.memory);
      for (cudaEvent_t event : {slot.uploaded, slot.computed, slot.landed}) cudaEventDestroy(event);
    }
    if (split_) {
      cudaStreamDestroy(up_);
      cudaStreamDestroy(down_);
    }
    if (compute_ != nullptr) cudaStreamDestroy(compute_);
  }
  bool run(std::uint64_t tiles) {
    std::uint64_t put = 0;
    std::uint64_t retired = 0;
    while (retired < tiles && well_) {
      if (put < tiles && put - retired < depth_) {
        enqueue(put++ % depth_);
        continue;
      }
      cudaError_t const answer = cudaEventQuery(slots_[retired % depth_].landed);
      if (answer == cudaSuccess) {
        ++retired;
      } else if (answer != cudaErrorNotReady) {
        well_ = false;
      }
    }
    return well_;
  }

 private:
  struct Slot {
    void* memory = nullptr;
    cudaEvent_t uploaded = nullptr, computed = nullptr, landed = nullptr;
  };
  void enqueue(std::size_t at) {
    Slot& slot = slots_[at];
    std::byte* const host = host_ + at * bytes_;
    bool well = cudaMemcpyAsync(slot.memory, host, bytes_, cudaMemcpyHostToDevice, up_) == cudaSuccess;
    if (split_) {
      well = cudaEventRecord(slot.uploaded, up_) == cudaSuccess && well;
      well = cudaStreamWaitEvent(compute_, slot.uploaded, 0) == cudaSuccess && well;
    }
    std::size_t const count = bytes_ / sizeof(float);
    scale_kernel<<<blocks_for(count), block, 0, compute_>>>(static_cast<float*>(slot.memory), count);
    well = cudaGetLastError() == cudaSuccess && well;
    if (split_) {
      well = cudaEventRecord(slot.computed, compute_) == cudaSuccess && well;
      well = cudaStreamWaitEvent(down_, slot.computed, 0) == cudaSuccess && well;
    }
    well = cudaMemcpyAsync(host, slot.memory, bytes_, cudaMemcpyDeviceToHost, down_) == cudaSuccess && well;
    well = cudaEventRecord(slot.landed, down_) == cudaSuccess && well;
    well_ = well_ && well;
  }

  std::byte* host_;
  std::size_t bytes_;
  unsigned depth_;
  bool split_;
  bool well_ = true;
  std::vector<Slot> slots_;
  cudaStream_t up_ = nullptr, compute_ = nullptr, down_ = nullptr;
};

}  // namespace

bool scale(float* values, std::size_t count, void* stream) {
  scale_kernel<<<blocks_for(count), block, 0, static_cast<cudaStream_t>(stream)>>>(values, count);
  return cudaPeekAtLastError() == cudaSuccess;
}

bool scale_on_the_default_stream(float* values, std::size_t count) {
  scale_kernel<<<blocks_for(count), block>>>(values, count);
  return cudaPeekAtLastError() == cudaSuccess;
}

double tiles_by_hand(std::byte* host, std::size_t bytes, unsigned threads, unsigned depth, std::uint64_t tiles,
                     bool split, bool default_stream) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false}, well{true};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      ByHand mine(host + std::size_t{t} * depth * bytes, bytes, depth, split, default_stream);
      bool fine = mine.run(depth);
      ++ready;
      while (!go) {
      }
      fine = mine.run(tiles / threads) && fine;
      if (!fine) well = false;
      ++ready;
      while (go) std::this_thread::yield();
    });
  }
  while (ready < threads) std::this_thread::yield();
  auto const start = std::chrono::steady_clock::now();
  go = true;
  while (ready < 2 * threads) std::this_thread::yield();
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  go = false;
  for (std::thread& thread : all) thread.join();
  return well ? seconds : -1;
}

bool note_time(std::uint64_t* stamp, void* stream) {
  note_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(reinterpret_cast<unsigned long long*>(stamp));
  return cudaPeekAtLastError() == cudaSuccess;
}

ClockOffset clock_offset() {
  unsigned long long volatile* words = nullptr;
  if (cudaHostAlloc((void**)&words, 4096, cudaHostAllocMapped) != cudaSuccess) return {0, -1};
  words[0] = 1;
  words[64] = 0;
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return {0, -1};
  answer_kernel<<<1, 1, 0, stream>>>(words, words + 64);
  ClockOffset best{0, INT64_MAX};
  for (unsigned long long k = 2; k < 5000; ++k) {
    words[64] = 0;
    std::int64_t const asked = host_now();
    words[0] = k;
    while (words[64] == 0) {
    }
    std::int64_t const told = host_now();
    if (told - asked < best.uncertain) best = {(asked + told) / 2 - static_cast<std::int64_t>(words[64]), told - asked};
  }
  words[0] = 0;
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFreeHost((void*)words);
  best.uncertain /= 2;
  return best;
}

BareLoop::BareLoop(std::uint64_t* pinned, void* stream) : stamp_(pinned), stream_(static_cast<cudaStream_t>(stream)) {
  cudaEventCreateWithFlags(&event_, cudaEventDisableTiming);
}

BareLoop::~BareLoop() {
  cudaEventDestroy(event_);
}

std::int64_t BareLoop::next(std::function<void()> const& write, std::function<bool()> const& written) {
  note_time(stamp_, stream_);
  if (write) {
    write();
    while (!written()) {
    }
  } else {
    cudaEventRecord(event_, stream_);
    while (cudaEventQuery(event_) == cudaErrorNotReady) {
    }
  }
  std::int64_t const knows = host_now();
  return knows - static_cast<std::int64_t>(std::atomic_ref<std::uint64_t>(*stamp_).load(std::memory_order_acquire));
}
