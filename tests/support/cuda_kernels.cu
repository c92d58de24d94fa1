// SPDX-License-Identifier: Apache-2.0
#undef NDEBUG  // The kernel that asserts is to do so in every build.
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdlib>

#include "support/cuda_kernels.hpp"
#include <gtest/gtest.h>

#include "engine/cuda/check.hpp"

namespace penstock::support {
namespace {

constexpr unsigned threads = 256;
constexpr std::uint64_t longest_hold_ns = 20'000'000'000;

/// State that host and kernel share. It is in mapped memory, so both see it at once.
struct Flags {
  std::uint32_t reached;
  std::uint32_t open;
  std::uint32_t ended;
};

__global__ void fill_kernel(std::byte* bytes, std::size_t count, std::byte value) {
  std::size_t const stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) bytes[i] = value;
}

__global__ void add_one_kernel(unsigned char* bytes, std::size_t count) {
  std::size_t const stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) ++bytes[i];
}

/// A thread for each record.
__global__ void sum_each_kernel(RecordTable inputs, unsigned char const* input, RecordTable outputs,
                                std::byte* output) {
  std::uint32_t const number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= inputs.size()) return;
  RecordPlace const place = inputs[number];
  unsigned long long sum = 0;
  for (std::uint32_t i = 0; i < place.bytes; ++i) sum += input[place.offset + i];
  memcpy(output + outputs[number].offset, &sum, sizeof sum);
}

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void hold_kernel(Flags volatile* flags, std::uint64_t longest) {
  flags->reached = 1;
  __threadfence_system();
  std::uint64_t const start = nanoseconds();
  while (flags->open == 0 && nanoseconds() - start < longest) __nanosleep(500);
  __threadfence_system();
  flags->ended = 1;
}

__global__ void nowhere_kernel() {
  // No GPU maps the first page.
  *reinterpret_cast<int volatile*>(16) = 1;
}

__global__ void assert_kernel(int holds) {
  assert(holds != 0);
}

__global__ void endless_kernel(std::uint32_t volatile* flag) {
  while (*flag == 0) __nanosleep(500);
}

unsigned blocks_for(std::size_t bytes) {
  constexpr std::size_t most = 1024;
  std::size_t const wanted = (bytes + threads - 1) / threads;
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

cudaStream_t native(StreamRef stream) {
  return static_cast<cudaStream_t>(stream.native());
}

}  // namespace

/// Pinned flags for many holds, made at once because pinning may wait for a kernel that is held.
class CudaGates {
 public:
  CudaGates() {
    cuda::check(cudaHostAlloc(reinterpret_cast<void**>(&flags_), count * sizeof(Flags),
                              cudaHostAllocMapped | cudaHostAllocPortable),
                "cudaHostAlloc");
  }
  CudaGates(CudaGates const&) = delete;
  CudaGates& operator=(CudaGates const&) = delete;
  ~CudaGates() { cuda::report(cudaFreeHost(flags_), "cudaFreeHost"); }

  /// Flags that no kernel reads any more.
  Flags& take() {
    Flags& flags = flags_[taken_ % count];
    if (taken_ >= count) {
      EXPECT_NE(std::atomic_ref(flags.ended).load(), 0u) << "more than " << count << " holds at once";
    }
    ++taken_;
    flags = Flags{};
    return flags;
  }

 private:
  static constexpr std::size_t count = 1024;
  Flags* flags_ = nullptr;
  std::size_t taken_ = 0;
};

namespace {

class CudaGate final : public Hold::Gate {
 public:
  CudaGate(std::shared_ptr<CudaGates> keep, Flags& flags) : keep_(std::move(keep)), flags_(flags) {}
  void open() noexcept override {
    if (opened_) return;
    opened_ = true;
    EXPECT_EQ(std::atomic_ref(flags_.ended).load(), 0u) << "a hold gave up before it was opened";
    std::atomic_ref(flags_.open).store(1);
  }
  bool reached() const noexcept override { return std::atomic_ref(flags_.reached).load() != 0; }

 private:
  std::shared_ptr<CudaGates> keep_;
  Flags& flags_;
  bool opened_ = false;
};

}  // namespace

CudaKernels::CudaKernels() = default;
CudaKernels::~CudaKernels() = default;

void CudaKernels::fill(StreamRef stream, DeviceSpan<std::byte> bytes, std::byte value) const {
  if (bytes.empty()) return;
  fill_kernel<<<blocks_for(bytes.size()), threads, 0, native(stream)>>>(bytes.address(), bytes.size(), value);
  cuda::check_launch("fill");
}

void CudaKernels::add_one(StreamRef stream, DeviceSpan<std::byte> bytes) const {
  if (bytes.empty()) return;
  add_one_kernel<<<blocks_for(bytes.size()), threads, 0, native(stream)>>>(
      reinterpret_cast<unsigned char*>(bytes.address()), bytes.size());
  cuda::check_launch("add_one");
}

void CudaKernels::sum_each(StreamRef stream, RecordTable inputs, DeviceSpan<std::byte const> input, RecordTable outputs,
                           DeviceSpan<std::byte> output) const {
  if (inputs.size() == 0) return;
  sum_each_kernel<<<blocks_for(inputs.size()), threads, 0, native(stream)>>>(
      inputs, reinterpret_cast<unsigned char const*>(input.address()), outputs, output.address());
  cuda::check_launch("sum_each");
}

bool CudaKernels::run_beside_each_other() const {
  return std::getenv("PENSTOCK_ONE_KERNEL_AT_A_TIME") == nullptr;
}

Hold CudaKernels::hold(StreamRef stream) const {
  std::lock_guard const lock(mutex_);
  if (!gates_) gates_ = std::make_shared<CudaGates>();
  Flags& flags = gates_->take();
  Flags* there = nullptr;
  cuda::check(cudaHostGetDevicePointer(reinterpret_cast<void**>(&there), &flags, 0), "cudaHostGetDevicePointer");
  hold_kernel<<<1, 1, 0, native(stream)>>>(there, longest_hold_ns);
  cuda::check_launch("hold");
  return Hold(std::make_shared<CudaGate>(gates_, flags));
}

void CudaKernels::give_back() const noexcept {
  std::lock_guard const lock(mutex_);
  gates_.reset();
}

void let_many_streams_run_at_once() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

void write_to_nowhere(cudaStream_t stream) {
  nowhere_kernel<<<1, 1, 0, stream>>>();
}

void assert_in_vain(cudaStream_t stream) {
  assert_kernel<<<1, 1, 0, stream>>>(0);
}

void run_for_ever(cudaStream_t stream) {
  // This host memory is never written to; it is the GPU's until the process ends.
  std::uint32_t* flag = nullptr;
  cuda::check(cudaHostAlloc(reinterpret_cast<void**>(&flag), sizeof *flag, cudaHostAllocMapped), "cudaHostAlloc");
  *flag = 0;
  endless_kernel<<<1, 1, 0, stream>>>(flag);
  cuda::check_launch("run_for_ever");
}

void launch_too_large(cudaStream_t stream) {
  nowhere_kernel<<<1, 4096, 0, stream>>>();
}

}  // namespace penstock::support
