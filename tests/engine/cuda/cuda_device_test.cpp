// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/cuda_device.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include "support/one_gpu.hpp"
#include <gmock/gmock.h>

#include "engine/cuda/probe.hpp"

namespace penstock::cuda {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;

constexpr std::size_t page = 1 << 16;

/// Pages of host memory that are not pinned.
struct Pages {
  explicit Pages(std::size_t count)
      : start(static_cast<std::byte*>(std::aligned_alloc(page, count * page)), &std::free),
        bytes(start.get(), count * page) {
    std::ranges::fill(bytes, std::byte{0});
  }
  std::unique_ptr<std::byte, decltype(&std::free)> start;
  std::span<std::byte> bytes;
};

struct AGpu : support::OneGpu {
  static Error refusal(auto call) {
    try {
      call();
    } catch (Error const& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(ErrorKind::system, "");
  }
  static cudaPointerAttributes attributes(void const* address) {
    cudaPointerAttributes answer{};
    check(cudaPointerGetAttributes(&answer, address), "cudaPointerGetAttributes");
    return answer;
  }
};

TEST_F(AGpu, BringsBackWhatWasSentToIt) {
  Pages host(2);
  Pinned const pinned = gpu->pin(host.bytes);
  auto const out = host.bytes.first(page);
  auto const in = host.bytes.last(page);
  std::ranges::fill(out, std::byte{41});
  DeviceMemory const there = gpu->allocate(page);
  Stream const stream = gpu->make_stream();
  stream.upload(there.bytes(), out);
  kernels.add_one(stream, there.bytes());
  stream.download(in, there.bytes());
  stream.synchronize();
  EXPECT_THAT(in, Each(std::byte{42}));
}

TEST_F(AGpu, SaysPlausibleThingsOfItself) {
  DeviceInfo const info = gpu->info();
  EXPECT_EQ(info.kind, DeviceKind::cuda);
  EXPECT_EQ(info.ordinal, 0);
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.memory_bytes, std::size_t{1} << 30);
  EXPECT_GT(info.memory_free, 0u);
  EXPECT_LE(info.memory_free, info.memory_bytes);
  EXPECT_GE(info.copy_engines, 1);
  EXPECT_GE(info.compute_units, 1);
  EXPECT_THAT(info.pci_bus_id, ContainsRegex("^[0-9a-f]+:[0-9a-f]+:[0-9a-f]+\\.[0-9a-f]$"));
  EXPECT_THAT(info.capability, ContainsRegex("^[0-9]+\\.[0-9]$"));
  EXPECT_THAT(info.driver, ContainsRegex("^[0-9]+\\.[0-9]$"));
  EXPECT_EQ(info.runtime, version_text(CUDART_VERSION));
  EXPECT_GE(info.least_priority, 0);
  EXPECT_LT(info.greatest_priority, info.least_priority);
}

TEST_F(AGpu, SaysTheSameOfItselfInTheList) {
  DeviceInfo const listed = list().at(0);
  DeviceInfo const own = gpu->info();
  EXPECT_EQ(listed.name, own.name);
  EXPECT_EQ(listed.pci_bus_id, own.pci_bus_id);
  EXPECT_EQ(listed.numa_node, own.numa_node);
}

TEST_F(AGpu, SaysWhatItHasWhenAskedForAPetabyte) {
  Error const error = refusal([&] { static_cast<void>(gpu->allocate(std::size_t{1} << 50)); });
  EXPECT_EQ(error.kind(), ErrorKind::out_of_device_memory);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("no room for 1 PiB"), ContainsRegex("of its .* GiB are free"),
                                  HasSubstr("fewer --tiles"), HasSubstr("smaller --tile")));
  EXPECT_EQ(gpu->allocate(1024).bytes().size(), 1024u);
}

TEST_F(AGpu, MapsPinnedMemoryAndLetsItGo) {
  Pages host(1);
  {
    Pinned const pinned = gpu->pin(host.bytes);
    EXPECT_EQ(attributes(host.bytes.data()).type, cudaMemoryTypeHost);
    EXPECT_NE(attributes(host.bytes.data()).devicePointer, nullptr);
  }
  EXPECT_EQ(attributes(host.bytes.data()).type, cudaMemoryTypeUnregistered);
}

TEST_F(AGpu, NamesTheRemedyWhenMemoryIsPinnedTwice) {
  Pages host(1);
  Pinned const pinned = gpu->pin(host.bytes);
  Error const error = refusal([&] { static_cast<void>(gpu->pin(host.bytes)); });
  EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
  EXPECT_THAT(error.what(), HasSubstr("pin each page once"));
}

TEST_F(AGpu, MakesBlockingStreamsOnlyIfAsked) {
  for (bool const blocking : {false, true}) {
    Stream const stream = gpu->make_stream({.blocking = blocking});
    unsigned flags = 7;
    check(cudaStreamGetFlags(static_cast<cudaStream_t>(stream.native()), &flags), "cudaStreamGetFlags");
    EXPECT_EQ(flags, blocking ? cudaStreamDefault : cudaStreamNonBlocking);
  }
}

TEST_F(AGpu, ClampsAPriorityToWhatItHas) {
  DeviceInfo const info = gpu->info();
  for (int const wanted : {-1'000'000, 1'000'000}) {
    Stream const stream = gpu->make_stream({.priority = wanted});
    int priority = 0;
    check(cudaStreamGetPriority(static_cast<cudaStream_t>(stream.native()), &priority), "cudaStreamGetPriority");
    EXPECT_EQ(priority, std::clamp(wanted, info.greatest_priority, info.least_priority));
  }
}

TEST_F(AGpu, IsTheCurrentDeviceOfWhoeverAttached) {
  std::jthread([&] {
    gpu->attach();
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 0);
  }).join();
}

TEST_F(AGpu, RefusesTheTimeBetweenEventsThatKeepNone) {
  Event const start = gpu->make_event();
  Event const end = gpu->make_event({.timing = true});
  EXPECT_EQ(refusal([&] { static_cast<void>(end.since(start)); }).kind(), ErrorKind::bad_argument);
}

TEST_F(AGpu, BlamesALaunchForItsOwnRefusalOnce) {
  Stream const stream = gpu->make_stream();
  support::launch_too_large(static_cast<cudaStream_t>(stream.native()));
  Error const error = refusal([] { check_launch("a kernel with huge blocks"); });
  EXPECT_EQ(error.kind(), ErrorKind::device_refused);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("a kernel with huge blocks was refused"),
                                  // Drivers differ: an invalid configuration, or just an invalid value.
                                  AnyOf(HasSubstr("smaller blocks"), HasSubstr("correct the call"))));
  EXPECT_NO_THROW(check_launch("the next kernel"));
}

TEST_F(AGpu, BlamesNoOtherCallForARefusedLaunch) {
  Pages host(1);
  Pinned const pinned = gpu->pin(host.bytes);
  DeviceMemory const there = gpu->allocate(page);
  Stream const stream = gpu->make_stream();
  Event const event = gpu->make_event();
  support::launch_too_large(static_cast<cudaStream_t>(stream.native()));
  EXPECT_NO_THROW(stream.upload(there.bytes(), host.bytes));
  EXPECT_NO_THROW(stream.record(event));
  EXPECT_NO_THROW(event.wait());
  EXPECT_NO_THROW(stream.synchronize());
  EXPECT_FALSE(gpu->lost());
  EXPECT_NE(cudaGetLastError(), cudaSuccess) << "only its own check may take it";
}

TEST_F(AGpu, ForgetsARefusalThatItTold) {
  EXPECT_THROW(check(cudaSetDevice(-7), "cudaSetDevice"), Error);
  EXPECT_NO_THROW(check_launch("the next kernel"));
}

TEST_F(AGpu, DoesNotTakeNotYetForARefusal) {
  Stream const stream = gpu->make_stream();
  Event const event = gpu->make_event();
  kernels.hold(stream).open();  // Loads the kernel, so that the next launch does not wait.
  stream.synchronize();
  auto still = kernels.hold(stream);
  stream.record(event);
  EXPECT_FALSE(stream.idle());
  EXPECT_FALSE(event.passed());
  EXPECT_NO_THROW(check_launch("the next kernel"));
  still.open();
  stream.synchronize();
}

}  // namespace
}  // namespace penstock::cuda
