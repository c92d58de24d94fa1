// SPDX-License-Identifier: Apache-2.0
// Promises of a device for captures.
#include <algorithm>
#include <thread>

#include "support/calls.hpp"
#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using testing::Each;

constexpr std::size_t bytes = 4096;

TEST_P(DeviceContract, DoesNothingOfACaptureUntilItIsLaunched) {
  auto const there = memory(bytes);
  Stream const own = stream();
  own.begin_capture();
  kernels().add_one(own, there);
  kernels().add_one(own, there);
  Capture const captured = own.end_capture();
  EXPECT_EQ(captured.operations(), 2u);
  let_all_else_run();
  EXPECT_THAT(read(there), Each(std::byte{0}));
  own.launch(captured);
  own.synchronize();
  EXPECT_THAT(read(there), Each(std::byte{2}));
}

TEST_P(DeviceContract, LaunchesACaptureInAnyStreamAsOftenAsItIsTold) {
  auto const there = memory(bytes);
  Stream const capturing = stream();
  capturing.begin_capture();
  for (int i = 0; i < 3; ++i) kernels().add_one(capturing, there);
  Capture const captured = capturing.end_capture();
  Stream const own = stream();
  for (StreamRef const at : {StreamRef(own), device().per_thread_default_stream(), device().legacy_default_stream()}) {
    for (int i = 0; i < 5; ++i) at.launch(captured);
    at.synchronize();
  }
  EXPECT_THAT(read(there), Each(std::byte{45}));
}

TEST_P(DeviceContract, LaunchesACaptureInItsPlaceOfTheStream) {
  auto const in = host(bytes);
  auto const out = host(bytes);
  auto const there = memory(bytes);
  std::ranges::fill(in, std::byte{7});
  Stream const capturing = stream();
  capturing.begin_capture();
  kernels().add_one(capturing, there);
  Capture const captured = capturing.end_capture();
  Stream const own = stream();
  auto still = hold(own);
  own.upload(there, in);
  own.launch(captured);
  own.download(out, there);
  Event const end = mark(own);
  let_all_else_run();
  EXPECT_FALSE(end.passed());
  EXPECT_THAT(read(there), Each(std::byte{0})) << "it did not wait for its turn";
  still.open();
  own.synchronize();
  EXPECT_THAT(out, Each(std::byte{8}));
}

TEST_P(DeviceContract, CapturesCopiesAsWell) {
  auto const here = host(bytes);
  auto const there = memory(bytes);
  std::ranges::fill(here, std::byte{1});
  Stream const own = stream();
  own.begin_capture();
  own.upload(there, here);
  kernels().add_one(own, there);
  own.download(here, there);
  Capture const captured = own.end_capture();
  for (int i = 0; i < 4; ++i) own.launch(captured);
  own.synchronize();
  EXPECT_THAT(here, Each(std::byte{5}));
}

TEST_P(DeviceContract, CapturesNothingIfNothingIsAsked) {
  Stream const own = stream();
  own.begin_capture();
  Capture const captured = own.end_capture();
  EXPECT_EQ(captured.operations(), 0u);
  own.launch(captured);
  own.synchronize();
}

TEST_P(DeviceContract, RefusesToWaitWhileItCaptures) {
  auto const there = memory(bytes);
  Stream const own = stream();
  own.begin_capture();
  kernels().add_one(own, there);
  EXPECT_THROW(own.synchronize(), Error);
  EXPECT_THROW(static_cast<void>(own.end_capture()), Error) << "the capture was spoiled";
  EXPECT_FALSE(device().take_refusal());
  EXPECT_FALSE(device().lost());
  let_all_else_run();
  EXPECT_THAT(read(there), Each(std::byte{0})) << "what a spoiled capture had was done";
}

TEST_P(DeviceContract, RefusesQuestionsWhileItCaptures) {
  Stream const own = stream();
  own.begin_capture();
  EXPECT_THROW(static_cast<void>(own.idle()), Error);
  EXPECT_THROW(static_cast<void>(own.end_capture()), Error);
  EXPECT_FALSE(device().take_refusal());
}

TEST_P(DeviceContract, RefusesToCallBackWithStatusWhileItCaptures) {
  support::Calls calls;
  support::NotedCallback callback(calls, 1);
  {
    Stream const own = stream();
    own.begin_capture();
    EXPECT_THROW(own.call(callback), Error);
    EXPECT_THROW(static_cast<void>(own.end_capture()), Error);
  }
  EXPECT_EQ(calls.count(), 0u);
}

TEST_P(DeviceContract, RefusesToWaitForWhatIsNotCapturedWhileItCaptures) {
  Stream const other = stream();
  Event const behind = mark(other);
  Stream const own = stream();
  own.begin_capture();
  EXPECT_THROW(own.wait(behind), Error);
  EXPECT_THROW(static_cast<void>(own.end_capture()), Error);
  EXPECT_FALSE(device().take_refusal());
}

TEST_P(DeviceContract, WorksAgainAfterASpoiledCapture) {
  auto const there = memory(bytes);
  Stream const own = stream();
  own.begin_capture();
  EXPECT_THROW(own.synchronize(), Error);
  EXPECT_THROW(static_cast<void>(own.end_capture()), Error);
  kernels().add_one(own, there);
  own.begin_capture();
  kernels().add_one(own, there);
  Capture const captured = own.end_capture();
  own.launch(captured);
  own.synchronize();
  EXPECT_THAT(read(there), Each(std::byte{2}));
}

TEST_P(DeviceContract, LetsOtherThreadsWorkWhileOneCaptures) {
  auto const there = memory(bytes);
  auto const elsewhere = memory(bytes);
  Stream const own = stream();
  own.begin_capture();
  kernels().add_one(own, there);
  std::jthread([&] {
    device().attach();
    DeviceMemory const more = device().allocate(bytes);
    kernels().fill(device().legacy_default_stream(), more.bytes(), std::byte{3});
    kernels().add_one(device().legacy_default_stream(), elsewhere);
    device().legacy_default_stream().synchronize();
  }).join();
  Capture const captured = own.end_capture();
  EXPECT_EQ(captured.operations(), 1u);
  own.launch(captured);
  own.synchronize();
  EXPECT_THAT(read(there), Each(std::byte{1}));
  EXPECT_THAT(read(elsewhere), Each(std::byte{1}));
}

TEST_P(DeviceContract, CapturesNoDefaultStream) {
  for (StreamRef const stream : {device().per_thread_default_stream(), device().legacy_default_stream()}) {
    try {
      stream.begin_capture();
      ADD_FAILURE() << "it began";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
    }
  }
}

TEST_P(DeviceContract, EndsNoCaptureThatWasNotBegun) {
  Stream const own = stream();
  EXPECT_THROW(static_cast<void>(own.end_capture()), Error);
  EXPECT_FALSE(device().take_refusal());
}

}  // namespace
}  // namespace penstock
