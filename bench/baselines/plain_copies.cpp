// SPDX-License-Identifier: Apache-2.0
// Question: how fast are plain copies at most at each size, on one GPU or several at once, in a program without
// penstock? Budget: the ceiling of copies by `penstock bench` is within 3 % of it.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "cuda.hpp"
#include <CLI/CLI.hpp>

namespace {

using namespace baselines;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

/// Resources of one thread that copies: pinned memory, memory of the GPU, a stream each way, and an event behind every
/// few copies, so that most of its calls are copies.
class Copier {
 public:
  /// Records an event for each `batch` copies; 0: for half of those that are in flight. Copies go through `memory`
  /// bytes of the host each way, cyclically, or through as many as are in flight, if these are more.
  Copier(std::size_t size, bool up, bool down, std::size_t batch, std::size_t memory)
      : size_(size),
        depth_(std::clamp<std::size_t>(8 * mebibyte / size, 2, 32)),
        batch_(batch == 0 ? depth_ / 2 : std::min(batch, depth_)),
        places_(std::max<std::size_t>(memory / size / depth_, 1) * depth_),
        up_(up),
        down_(down) {
    check(cudaHostAlloc(&host_, 2 * places_ * size_, cudaHostAllocDefault));
    check(cudaMalloc(&device_, 2 * depth_ * size_));
    for (std::size_t i = 0; i < 2 * depth_; ++i) ends_.push_back(std::make_unique<Event>());
  }
  Copier(Copier const&) = delete;
  Copier& operator=(Copier const&) = delete;
  ~Copier() {
    complain(cudaDeviceSynchronize());
    complain(cudaFree(device_));
    complain(cudaFreeHost(host_));
  }
  void copy() {
    std::size_t const place = turn_ % places_, at = turn_ % depth_;
    bool const used = ++turn_ > depth_;
    if (up_) go(upward_, at, place, used, cudaMemcpyHostToDevice);
    // Each direction has its own half.
    if (down_) go(downward_, depth_ + at, places_ + place, used, cudaMemcpyDeviceToHost);
  }

 private:
  void go(Stream const& stream, std::size_t at, std::size_t place, bool used, cudaMemcpyKind way) {
    std::size_t const in_batch = at % depth_ % batch_;
    Event const& end = *ends_[at - in_batch];
    while (used && in_batch == 0 && !end.passed()) {
    }
    void* const on_device = static_cast<std::byte*>(device_) + at * size_;
    void* const on_host = static_cast<std::byte*>(host_) + place * size_;
    bool const up = way == cudaMemcpyHostToDevice;
    check(cudaMemcpyAsync(up ? on_device : on_host, up ? on_host : on_device, size_, way, stream));
    if (in_batch + 1 == batch_ || at % depth_ + 1 == depth_) end.record(stream);
  }

  std::size_t const size_, depth_, batch_, places_;
  bool const up_, down_;
  std::size_t turn_ = 0;
  void* host_ = nullptr;
  void* device_ = nullptr;
  std::vector<std::unique_ptr<Event>> ends_;
  Stream upward_, downward_;
};

/// GB/s of all threads together, `threads_each` of them on each of the GPUs, each way.
double rate(std::size_t size, bool up, bool down, std::vector<int> const& gpus, unsigned threads_each,
            std::size_t batch, std::size_t memory, std::chrono::milliseconds window) {
  unsigned const threads = threads_each * static_cast<unsigned>(gpus.size());
  std::latch ready(threads);
  std::atomic<bool> over{false};
  std::vector<double> rates(threads);
  std::vector<std::jthread> all;
  for (unsigned thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      try {
        check(cudaSetDevice(gpus[thread % gpus.size()]));
        Copier copier(size, up, down, batch, memory);
        for (int i = 0; i < 100; ++i) copier.copy();
        ready.arrive_and_wait();
        auto const start = Clock::now();
        std::size_t copies = 0;
        for (; Clock::now() - start < window && !over.load(std::memory_order_relaxed); ++copies) copier.copy();
        over.store(true, std::memory_order_relaxed);
        rates[thread] =
            static_cast<double>(copies * size) / std::chrono::duration<double>(Clock::now() - start).count();
      } catch (std::exception const& error) {
        std::fprintf(stderr, "penstock_plain_copies: %s\n", error.what());
        std::_Exit(4);  // Other threads may wait for this one.
      }
    });
  }
  all.clear();
  double sum = 0;
  for (double const one : rates) sum += one / 1e9;
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Copies to and from a GPU, or several at once, and does nothing else.");
  std::vector<int> gpus{0};
  app.add_option("--devices", gpus,
                 "The GPUs, as 0,1: all of them copy at once, and what they come to is added up. Default: 0")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber);
  unsigned threads = 4, batch = 0, milliseconds = 100, rounds = 5;
  app.add_option("--threads", threads, "Threads that copy, for each GPU. Default: 4")->check(CLI::Range(1U, 64U));
  app.add_option("--batch", batch, "Copies that have an event together. Default: half of those in flight, up to 16")
      ->check(CLI::Range(1U, 32U));
  std::size_t memory = 0;
  app.add_option(
         "--memory", memory,
         "MiB of the host's memory that each thread goes through each way: more than the last cache holds, so that "
         "copies come from memory. Default: 0, what is in flight")
      ->check(CLI::Range(0U, 4096U));
  app.add_option("--window", milliseconds, "Milliseconds of each run. Default: 100")->check(CLI::Range(1U, 10'000U));
  app.add_option("--rounds", rounds, "Runs of each size; the most is printed, with the least. Default: 5")
      ->check(CLI::Range(1U, 100U));
  CLI11_PARSE(app, count, arguments);
  int there = 0;
  if (cudaGetDeviceCount(&there) != cudaSuccess || there == 0) {
    std::fprintf(stderr, "penstock_plain_copies: There is no GPU here.\n");
    return 77;
  }
  if (*std::max_element(gpus.begin(), gpus.end()) >= there) {
    std::fprintf(stderr, "penstock_plain_copies: There are %d GPUs here, numbered from 0.\n", there);
    return 2;
  }
  std::chrono::milliseconds const window(milliseconds);
  std::printf("%zu GPUs, most (least) of %u\n%10s %17s %17s %17s\n", gpus.size(), rounds, "bytes", "up GB/s",
              "down GB/s", "both, each GB/s");
  for (std::size_t const size : {4 * kibibyte, 64 * kibibyte, mebibyte, 4 * mebibyte}) {
    std::array<std::vector<double>, 3> ways;
    for (unsigned round = 0; round < rounds; ++round) {
      ways[0].push_back(rate(size, true, false, gpus, threads, batch, memory * mebibyte, window));
      ways[1].push_back(rate(size, false, true, gpus, threads, batch, memory * mebibyte, window));
      ways[2].push_back(rate(size, true, true, gpus, threads, batch, memory * mebibyte, window));
    }
    std::printf("%10zu", size);
    for (auto& way : ways) {
      auto const [least, most] = std::minmax_element(way.begin(), way.end());
      std::printf(" %8.2f (%6.2f)", *most, *least);
    }
    std::printf("\n");
  }
}
