// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "support/kernels.hpp"
#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "penstock/collective.hpp"

namespace penstock {
namespace {

using support::SaysItIsAGpu;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// One, two or three CPU devices, with an array and a stream on each. Each test ends with nothing lent.
struct AllReduceOnDevices : testing::TestWithParam<std::size_t> {
  explicit AllReduceOnDevices(std::size_t count = GetParam()) {
    std::vector<Device*> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(&opened.emplace_back(cpu::CpuOptions{.ordinal = static_cast<int>(i), .compute_threads = 2}));
    }
    devices.emplace(all);
    for (Device* const device : all) streams.push_back(device->make_stream());
  }
  ~AllReduceOnDevices() override {
    streams.clear();
    memory.clear();
    for (auto const& device : opened) {
      EXPECT_TRUE(lost || device.outstanding() == cpu::Outstanding{});
    }
  }

  template <class Element>
  DeviceSpan<Element> span(std::size_t device, std::size_t count) const {
    return {reinterpret_cast<Element*>(memory[device].bytes().data()), count};
  }
  /// `value(device, i)` is what its array has.
  template <class Element>
  void fill(std::size_t count, std::function<Element(std::size_t, std::size_t)> const& value) {
    memory.clear();
    for (std::size_t device = 0; device < opened.size(); ++device) {
      std::vector<Element> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = value(device, i);
      memory.push_back(opened[device].allocate(std::max<std::size_t>(1, count * sizeof(Element))));
      streams[device].upload(memory[device].bytes(), std::as_bytes(std::span(values)));
      streams[device].synchronize();
    }
  }
  template <class Element>
  std::vector<typename AllReduce<Element>::Part> parts(std::size_t count) const {
    std::vector<typename AllReduce<Element>::Part> all;
    for (std::size_t device = 0; device < opened.size(); ++device) {
      all.push_back({span<Element>(device, count), streams[device]});
    }
    return all;
  }
  template <class Element>
  std::vector<Element> found(std::size_t device, std::size_t count) const {
    std::vector<Element> values(count);
    streams[device].download(std::as_writable_bytes(std::span(values)),
                             span<Element>(device, count).template as<std::byte>());
    streams[device].synchronize();
    return values;
  }

  std::deque<cpu::FaultyCpuDevice> opened;
  std::optional<DeviceGroup> devices;
  std::vector<Stream> streams;
  std::vector<DeviceMemory> memory;
  bool lost = false;
};
INSTANTIATE_TEST_SUITE_P(Of, AllReduceOnDevices, testing::Values(1, 2, 3));

TEST_P(AllReduceOnDevices, GivesAllOfThemTheSumsForAnyLength) {
  AllReduce<std::uint32_t> reduce(*devices);
  auto const n = static_cast<std::uint32_t>(GetParam());
  for (std::size_t const count : {0UL, 1UL, 2UL, 7UL, 100UL, 200'003UL}) {
    fill<std::uint32_t>(
        count, [](std::size_t device, std::size_t i) { return static_cast<std::uint32_t>(1000 * i + device); });
    reduce.start(parts<std::uint32_t>(count));
    reduce.wait();
    for (std::size_t device = 0; device < n; ++device) {
      std::vector<std::uint32_t> const values = found<std::uint32_t>(device, count);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], n * (1000 * static_cast<std::uint32_t>(i)) + n * (n - 1) / 2) << device << ", " << i;
      }
    }
  }
}

TEST_P(AllReduceOnDevices, KnowsTheLeastAndTheGreatest) {
  AllReduce<std::int64_t> least(*devices, ReduceOperation::min);
  AllReduce<double> greatest(*devices, ReduceOperation::max);
  fill<std::int64_t>(3, [](std::size_t device, std::size_t i) {
    return static_cast<std::int64_t>(i) - static_cast<std::int64_t>(device);
  });
  auto const last = static_cast<std::int64_t>(GetParam()) - 1;
  least.start(parts<std::int64_t>(3));
  least.wait();
  EXPECT_THAT(found<std::int64_t>(0, 3), ElementsAre(-last, 1 - last, 2 - last));
  fill<double>(2, [](std::size_t device, std::size_t i) { return static_cast<double>(10 * device + i); });
  greatest.start(parts<double>(2));
  greatest.wait();
  EXPECT_THAT(found<double>(0, 2), ElementsAre(10.0 * static_cast<double>(last), 10.0 * static_cast<double>(last) + 1));
}

TEST_P(AllReduceOnDevices, DoesOneAfterTheOther) {
  AllReduce<std::uint32_t> reduce(*devices);
  fill<std::uint32_t>(50, [](std::size_t, std::size_t) { return 1U; });
  std::uint32_t expected = 1;
  for (int i = 0; i < 8; ++i) {
    reduce.start(parts<std::uint32_t>(50));
    expected *= static_cast<std::uint32_t>(GetParam());
  }
  reduce.wait();
  EXPECT_THAT(found<std::uint32_t>(GetParam() - 1, 50), Each(expected));
}

TEST_P(AllReduceOnDevices, EndsWithWhatWasStarted) {
  fill<std::uint32_t>(1000, [](std::size_t, std::size_t) { return 1U; });
  { AllReduce<std::uint32_t>(*devices).start(parts<std::uint32_t>(1000)); }
  EXPECT_THAT(found<std::uint32_t>(0, 1000), Each(static_cast<std::uint32_t>(GetParam())));
}

struct AllReduceOnTwoDevices : AllReduceOnDevices {
  AllReduceOnTwoDevices() : AllReduceOnDevices(2) {}
  static ErrorKind refusal(std::function<void()> const& call) {
    try {
      call();
    } catch (Error const& error) {
      return error.kind();
    }
    return ErrorKind::no_device;
  }
};

TEST_F(AllReduceOnTwoDevices, WaitsForTheStreamsOfTheArrays) {
  AllReduce<std::uint32_t> reduce(*devices);
  fill<std::uint32_t>(4, [](std::size_t, std::size_t) { return 1U; });
  support::Hold hold = support::CpuKernels().hold(streams[1]);
  std::array<std::uint32_t, 4> const late{5, 6, 7, 8};
  streams[1].upload(memory[1].bytes(), std::as_bytes(std::span(late)));
  reduce.start(parts<std::uint32_t>(4));
  // Other reductions are through so often meanwhile that this one would be, too.
  AllReduce<std::uint32_t> other(*devices);
  DeviceMemory const one = opened[0].allocate(4), two = opened[1].allocate(4);
  Stream const one_stream = opened[0].make_stream(), two_stream = opened[1].make_stream();
  for (int i = 0; i < 50; ++i) {
    other.start({{DeviceSpan<std::byte>(one.bytes()).as<std::uint32_t>(), one_stream},
                 {DeviceSpan<std::byte>(two.bytes()).as<std::uint32_t>(), two_stream}});
    other.wait();
  }
  EXPECT_THAT(found<std::uint32_t>(0, 4), Each(1U)) << "it waits";
  // Later work of a stream is not waited for: the sums come, though this never ends before.
  support::Hold behind = support::CpuKernels().hold(streams[0]);
  hold.open();
  reduce.wait();
  behind.open();
  EXPECT_THAT(found<std::uint32_t>(0, 4), ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(found<std::uint32_t>(1, 4), ElementsAre(6, 7, 8, 9));
}

TEST_F(AllReduceOnTwoDevices, HearsOfADeviceThatIsGivenUpMeanwhile) {
  lost = true;
  AllReduce<std::uint32_t> reduce(*devices);
  fill<std::uint32_t>(4, [](std::size_t, std::size_t) { return 1U; });
  support::Hold hold = support::CpuKernels().hold(streams[1]);
  reduce.start(parts<std::uint32_t>(4));
  opened[1].abandon(Error(ErrorKind::device_lost, "It was given up."));
  EXPECT_EQ(refusal([&] { reduce.wait(); }), ErrorKind::device_lost);
  EXPECT_EQ(refusal([&] { reduce.start(parts<std::uint32_t>(4)); }), ErrorKind::device_lost) << "it stays so";
  hold.open();
}

TEST_F(AllReduceOnTwoDevices, HearsOfADeviceThatIsLostInIt) {
  lost = true;
  AllReduce<std::uint32_t> reduce(*devices);
  fill<std::uint32_t>(4, [](std::size_t, std::size_t) { return 1U; });
  opened[1].inject(cpu::Fault::break_kernel, 1);
  reduce.start(parts<std::uint32_t>(4));
  EXPECT_EQ(refusal([&] { reduce.wait(); }), ErrorKind::device_lost);
}

TEST_F(AllReduceOnTwoDevices, SaysThatADeviceRefused) {
  AllReduce<std::uint32_t> reduce(*devices);
  fill<std::uint32_t>(4, [](std::size_t, std::size_t) { return 1U; });
  opened[0].inject(cpu::Fault::refuse_launch, 1);
  reduce.start(parts<std::uint32_t>(4));
  EXPECT_EQ(refusal([&] { reduce.wait(); }), ErrorKind::device_refused);
}

TEST_F(AllReduceOnTwoDevices, RefusesPartsThatDoNotFit) {
  AllReduce<std::uint32_t> reduce(*devices);
  fill<std::uint32_t>(4, [](std::size_t, std::size_t) { return 1U; });
  auto all = parts<std::uint32_t>(4);
  all[1].array = all[1].array.first(3);
  EXPECT_EQ(refusal([&] { reduce.start(all); }), ErrorKind::bad_argument);
  all.pop_back();
  EXPECT_EQ(refusal([&] { reduce.start(all); }), ErrorKind::bad_argument);
  EXPECT_EQ(reduce.how(), "by memory of the host, of 2 devices");
}

/// Two devices that say they are GPUs.
struct AllReduceOnGpusToBe : testing::Test {
  SaysItIsAGpu first{0}, second{1};
  DeviceGroup devices{std::vector<Device*>{&first, &second}};
  std::array<Stream, 2> streams{first.make_stream({}), second.make_stream({})};

  void TearDown() override {
    unsetenv("FAKE_NCCL_REFUSES");
    unsetenv("FAKE_NCCL_VERSION");
  }
  /// Returns what becomes of 1, 2, ... and 10, 10, ...
  std::vector<std::uint32_t> sums(AllReduce<std::uint32_t>& reduce, std::size_t count) {
    std::vector<std::uint32_t> one(count), other(count, 10);
    for (std::size_t i = 0; i < count; ++i) one[i] = static_cast<std::uint32_t>(i + 1);
    std::array const memory{first.allocate(4 * count), second.allocate(4 * count)};
    streams[0].upload(memory[0].bytes(), std::as_bytes(std::span(one)));
    streams[1].upload(memory[1].bytes(), std::as_bytes(std::span(other)));
    for (Stream const& stream : streams) stream.synchronize();
    auto const as_part = [&](std::size_t i) {
      return AllReduce<std::uint32_t>::Part{DeviceSpan<std::byte>(memory[i].bytes()).as<std::uint32_t>(), streams[i]};
    };
    reduce.start({as_part(0), as_part(1)});
    reduce.wait();
    streams[0].download(std::as_writable_bytes(std::span(one)), memory[0].bytes());
    streams[1].download(std::as_writable_bytes(std::span(other)), memory[1].bytes());
    for (Stream const& stream : streams) stream.synchronize();
    EXPECT_TRUE(one == other);
    return one;
  }
};

TEST_F(AllReduceOnGpusToBe, GoesByTheHostWithoutNccl) {
  AllReduce<std::uint32_t> reduce(devices, ReduceOperation::sum, {.nccl = false});
  EXPECT_EQ(reduce.how(), "by memory of the host, of 2 devices, because: NCCL is not wanted.");
  EXPECT_THAT(sums(reduce, 3), ElementsAre(11, 12, 13));
  // The count is more than is combined at a time.
  std::vector<std::uint32_t> expected(2'100'000);
  std::iota(expected.begin(), expected.end(), 11U);
  EXPECT_TRUE(sums(reduce, expected.size()) == expected);
  AllReduce<std::uint32_t> none(devices, ReduceOperation::sum, {.nccl_library = "/nowhere/libnccl.so.2"});
  EXPECT_THAT(none.how(), HasSubstr("because: There is no NCCL"));
}

TEST_F(AllReduceOnGpusToBe, GoesByNcclAndTellsItHowManyBlocksItMayHave) {
  AllReduce<std::uint32_t> reduce(devices, ReduceOperation::sum, {.blocks = 7, .nccl_library = PENSTOCK_FAKE_NCCL});
  EXPECT_EQ(reduce.how(), "by NCCL 2.28.3 on 2 GPUs");
  EXPECT_THAT(sums(reduce, 3), ElementsAre(11, 12, 13));
  EXPECT_STREQ(std::getenv("FAKE_NCCL_MAX_CTAS"), "7");
}

TEST_F(AllReduceOnGpusToBe, SaysThatNcclIsTooOldToBeTold) {
  setenv("FAKE_NCCL_VERSION", "21605", 1);
  AllReduce<std::uint32_t> reduce(devices, ReduceOperation::sum, {.blocks = 7, .nccl_library = PENSTOCK_FAKE_NCCL});
  EXPECT_EQ(reduce.how(), "by NCCL 2.16.5 on 2 GPUs, which is too old to be told how many blocks it may have");
  EXPECT_THAT(sums(reduce, 1), ElementsAre(11));
}

TEST_F(AllReduceOnGpusToBe, GoesByTheHostIfNcclRefusesItsFirst) {
  setenv("FAKE_NCCL_REFUSES", "ncclAllReduce", 1);
  AllReduce<std::uint32_t> reduce(devices, ReduceOperation::sum, {.nccl_library = PENSTOCK_FAKE_NCCL});
  EXPECT_THAT(reduce.how(), HasSubstr("because: NCCL 2.28.3 refuses an all-reduce"));
  EXPECT_THAT(sums(reduce, 2), ElementsAre(11, 12));
}

TEST_F(AllReduceOnGpusToBe, EndsWithOneThatNcclMayStillBeAt) {
  AllReduce<std::uint32_t> reduce(devices, ReduceOperation::sum, {.nccl_library = PENSTOCK_FAKE_NCCL});
  setenv("FAKE_NCCL_REFUSES", "ncclGroupEnd", 1);
  EXPECT_THROW(sums(reduce, 1), Error);
  unsetenv("FAKE_NCCL_REFUSES");
  EXPECT_THROW(reduce.wait(), Error) << "its streams may be full for ever";
  EXPECT_THROW(sums(reduce, 1), Error);
}

}  // namespace
}  // namespace penstock
