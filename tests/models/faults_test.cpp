// SPDX-License-Identifier: Apache-2.0
#include "models/faults.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>

#include "engine/cpu/faulty_device.hpp"

namespace penstock::cpu {
namespace {

using testing::Each;

TEST_F(FaultyDevice, RefusesTheChosenUploadAndNoOther) {
  Stream const stream = device.make_stream();
  device.inject(Fault::refuse_upload, 2);
  host.assign(bytes, std::byte{1});
  stream.upload(memory.bytes(), host);
  stream.synchronize();
  host.assign(bytes, std::byte{2});
  EXPECT_EQ(kind_thrown_by([&] { stream.upload(memory.bytes(), host); }), ErrorKind::device_refused);
  stream.download(host, memory.bytes());
  stream.synchronize();
  EXPECT_THAT(host, Each(std::byte{1})) << "a refused copy was made";
  EXPECT_NO_THROW(stream.upload(memory.bytes(), host));
  EXPECT_FALSE(device.lost());
  stream.synchronize();
}

TEST_F(FaultyDevice, RefusesTheChosenDownloadAndNoOther) {
  Stream const stream = device.make_stream();
  device.inject(Fault::refuse_download);
  kernels.fill(stream, memory.bytes(), std::byte{7});
  EXPECT_EQ(kind_thrown_by([&] { stream.download(host, memory.bytes()); }), ErrorKind::device_refused);
  stream.synchronize();
  EXPECT_THAT(host, Each(std::byte{0})) << "a refused copy was made";
  stream.download(host, memory.bytes());
  stream.synchronize();
  EXPECT_THAT(host, Each(std::byte{7}));
}

TEST_F(FaultyDevice, RefusesOneLaunchOfThoseThatRaceForIt) {
  constexpr int threads = 4;
  constexpr int launches = 200;
  std::atomic<int> refused{0};
  std::atomic<int> ran{0};
  device.inject(Fault::refuse_launch, threads * launches / 2);
  std::vector<std::jthread> racing;
  for (int i = 0; i < threads; ++i) {
    racing.emplace_back([&] {
      Stream const stream = device.make_stream();
      for (int launch = 0; launch < launches; ++launch) {
        try {
          stream.launch(1, [&](std::uint32_t) { ++ran; });
        } catch (Error const& error) {
          EXPECT_EQ(error.kind(), ErrorKind::device_refused);
          ++refused;
        }
      }
    });
  }
  racing.clear();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(ran, threads * launches - 1);
}

TEST_F(FaultyDevice, RefusesTheChosenCallOfEachKindAndDoesNothing) {
  Stream const stream = device.make_stream();
  Event const event = device.make_event();
  Flag const flag = device.make_flag();
  for (Fault const fault : {Fault::refuse_call, Fault::refuse_record, Fault::refuse_wait, Fault::refuse_query}) {
    device.inject(fault);
  }
  EXPECT_EQ(kind_thrown_by([&] { stream.call(first); }), ErrorKind::device_refused);
  EXPECT_EQ(kind_thrown_by([&] { stream.record(event); }), ErrorKind::device_refused);
  EXPECT_EQ(kind_thrown_by([&] { stream.wait(event); }), ErrorKind::device_refused);
  EXPECT_EQ(kind_thrown_by([&] { event.passed(); }), ErrorKind::device_refused);
  device.inject(Fault::refuse_call);
  EXPECT_EQ(kind_thrown_by([&] { stream.launch_host_function(first); }), ErrorKind::device_refused);
  device.inject(Fault::refuse_call);
  EXPECT_EQ(kind_thrown_by([&] { stream.write(flag, 1); }), ErrorKind::device_refused);
  device.inject(Fault::refuse_query);
  EXPECT_EQ(kind_thrown_by([&] { stream.idle(); }), ErrorKind::device_refused);
  EXPECT_TRUE(stream.idle());
  EXPECT_EQ(calls.count(), 0u);
  EXPECT_EQ(flag.read(), 0u);
  EXPECT_FALSE(device.lost());
}

TEST_F(FaultyDevice, RefusesTheChosenCaptureAndNoOther) {
  Stream const stream = device.make_stream();
  auto const capture = [&] {
    stream.begin_capture();
    kernels.fill(stream, memory.bytes(), std::byte{7});
    return stream.end_capture();
  };
  device.inject(Fault::refuse_capture);
  EXPECT_EQ(kind_thrown_by(capture), ErrorKind::device_refused);
  Capture const captured = capture();
  device.inject(Fault::refuse_launch);
  EXPECT_EQ(kind_thrown_by([&] { stream.launch(captured); }), ErrorKind::device_refused);
  stream.launch(captured);
  stream.download(host, memory.bytes());
  stream.synchronize();
  EXPECT_THAT(host, Each(std::byte{7}));
  EXPECT_FALSE(device.lost());
}

TEST_F(FaultyDevice, IsLostOnceTheKernelBreaksOfACaptureThatWasLaunched) {
  Stream const stream = device.make_stream();
  stream.begin_capture();
  kernels.fill(stream, memory.bytes(), std::byte{7});
  Capture const captured = stream.end_capture();
  device.inject(Fault::break_kernel);
  stream.launch(captured);
  EXPECT_EQ(kind_thrown_by([&] { stream.synchronize(); }), ErrorKind::device_lost);
  EXPECT_EQ(kind_thrown_by([&] { stream.begin_capture(); }), ErrorKind::device_lost);
}

TEST_F(FaultyDevice, LaunchesNoCaptureOfAnotherDevice) {
  FaultyCpuDevice other;
  Stream const theirs = other.make_stream();
  theirs.begin_capture();
  Capture const captured = theirs.end_capture();
  Stream const stream = device.make_stream();
  EXPECT_EQ(kind_thrown_by([&] { stream.launch(captured); }), ErrorKind::bad_argument);
}

TEST_F(FaultyDevice, FailsTheChosenAllocationAndNoOther) {
  device.inject(Fault::fail_allocation, 2);
  DeviceMemory const before = device.allocate(64);
  EXPECT_EQ(kind_thrown_by([&] { device.allocate(64); }), ErrorKind::out_of_device_memory);
  DeviceMemory const after = device.allocate(64);
  EXPECT_EQ(device.outstanding().allocations, 3u) << "memory and two more";
}

TEST_F(FaultyDevice, FailsTheChosenPinAndNoOther) {
  constexpr std::size_t page = std::size_t{1} << 16;
  std::unique_ptr<void, decltype(&std::free)> const pages(std::aligned_alloc(page, page), &std::free);
  std::span const region(static_cast<std::byte*>(pages.get()), page);
  device.inject(Fault::fail_pin);
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region); }), ErrorKind::out_of_pinned_memory);
  EXPECT_NO_THROW(device.pin(region));
}

TEST_F(FaultyDevice, CountsCallsFromOne) {
  EXPECT_EQ(kind_thrown_by([&] { device.inject(Fault::lost_callback, 0); }), ErrorKind::bad_argument);
}

}  // namespace
}  // namespace penstock::cpu
