// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/probes.hpp"

#include <future>
#include <stdexcept>
#include <thread>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"

namespace penstock::cli {
namespace {

using namespace std::chrono_literals;

/// The device must leave with nothing lent.
struct ProbesOfTheCpuDevice : support::FolderOfFiles {
  cpu::FaultyCpuDevice device;
  std::stop_source stop;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    try {
      expect_memory_to_probe(HostLimits::read(), 2);
    } catch (Error const& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override {
    EXPECT_EQ(device.outstanding(), cpu::Outstanding{});
    support::FolderOfFiles::TearDown();
  }
};

TEST_F(ProbesOfTheCpuDevice, MeasureEachWayAndTheFile) {
  OpenFile const opened(file("a", 10'000'000));
  ProbeRates const rates = probe_rates(device, 2, &opened, stop.get_token(), 0ms);
  for (double const rate :
       {rates.upload, rates.download, rates.both_up, rates.both_down, rates.fill_one, rates.fill, *rates.read}) {
    EXPECT_GT(rate, 0);
  }
  EXPECT_EQ(rates.threads, 2u);
  EXPECT_FALSE(probe_rates(device, 1, nullptr, stop.get_token(), 1ms).read);
}

TEST_F(ProbesOfTheCpuDevice, ReadALargeFileForAWhileAndNotToItsEnd) {
  std::ofstream(path("sparse")).put('x');
  std::error_code refused;
  std::filesystem::resize_file(path("sparse"), std::uintmax_t{1} << 40, refused);
  if (refused) GTEST_SKIP() << "the file system of " << folder << " has no files of 1 TiB";
  OpenFile const opened(path("sparse"));
  ProbeRates const rates = probe_rates(device, 2, &opened, stop.get_token(), 0ms);
  EXPECT_GT(*rates.read, 0);
  EXPECT_FALSE(rates.read_all);
  EXPECT_EQ(rates.read_bytes, 2 * (std::uint64_t{4} << 20)) << "a piece each, in no time";
}

TEST_F(ProbesOfTheCpuDevice, ThrowWhatTheDeviceThrows) {
  device.inject(cpu::Fault::fail_allocation);
  EXPECT_THROW(probe_rates(device, 1, nullptr, stop.get_token(), 1ms), Error);
}

TEST_F(ProbesOfTheCpuDevice, ThrowWhatTheDeviceThrowsAtAThreadOfTheirOwn) {
  // The test's own thread makes three downloads alone in no time; the fourth is the other thread's.
  device.inject(cpu::Fault::refuse_download, 4);
  EXPECT_THROW(probe_rates(device, 1, nullptr, stop.get_token(), 0ms), Error);
}

TEST_F(ProbesOfTheCpuDevice, ThrowWhatTheFileThrowsAtAThreadOfTheirOwn) {
  OpenFile const opened(file("a", 10'000'000));
  std::filesystem::resize_file(path("a"), 5'000'000);
  EXPECT_THROW(probe_rates(device, 2, &opened, stop.get_token(), 0ms), std::runtime_error);
}

TEST_F(ProbesOfTheCpuDevice, AreRefusedIfAStopWasRequestedBefore) {
  stop.request_stop();
  EXPECT_THROW(probe_rates(device, 1, nullptr, stop.get_token(), 24h), Error);
}

TEST_F(ProbesOfTheCpuDevice, BeginNothingMoreWhenStopped) {
  auto probed = std::async(std::launch::async, [&] { return probe_rates(device, 1, nullptr, stop.get_token(), 24h); });
  // Its memory is ready and pinned, and it measures the first of all, for a day.
  while (device.outstanding() == cpu::Outstanding{}) std::this_thread::yield();
  stop.request_stop();
  ProbeRates const rates = probed.get();
  EXPECT_GT(rates.upload, 0);
  for (double const rate : {rates.download, rates.both_up, rates.both_down, rates.fill_one, rates.fill}) {
    EXPECT_EQ(rate, 0);
  }
}

TEST(ProbesWithManyThreads, AreRefusedWhereMemoryIsShort) {
  constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
  HostLimits host;
  EXPECT_NO_THROW(expect_memory_to_probe(host, 1024)) << "nothing is known of this host";
  host.memory_available_bytes = gibibyte;
  EXPECT_NO_THROW(expect_memory_to_probe(host, 12));
  try {
    expect_memory_to_probe(host, 1024);
    ADD_FAILURE() << "1024 tiles alone are 4 GiB";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_THAT(error.what(), testing::HasSubstr("--producers 1024 takes 4.4 GiB of memory, of which 1 GiB are"));
  }
  host.memory_available_bytes = 8 * gibibyte;
  EXPECT_NO_THROW(expect_memory_to_probe(host, 1024));
  host.cgroup_memory_bytes = 8 * gibibyte;
  EXPECT_NO_THROW(expect_memory_to_probe(host, 1024));
  host.cgroup_memory_left_bytes = gibibyte;
  EXPECT_THROW(expect_memory_to_probe(host, 1024), Error);
}

}  // namespace
}  // namespace penstock::cli
