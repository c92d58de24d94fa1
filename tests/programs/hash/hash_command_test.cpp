// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_command.hpp"

#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"

namespace penstock::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// The CPU device, but it says nothing of itself once it has streams: so a GPU does that was lost in a run.
class DeviceThatFallsSilent final : public Device {
 public:
  cpu::FaultyCpuDevice inner;
  std::atomic<bool> finds_no_memory{false};  ///< The next question whether the device is lost.

  DeviceInfo info() const override {
    if (ran_) throw Error(ErrorKind::device_lost, "The device was lost.");
    return inner.info();
  }
  void attach() override { inner.attach(); }
  Flavour flavour() const noexcept override { return inner.flavour(); }
  StreamRef per_thread_default_stream() override {
    ran_ = true;
    return inner.per_thread_default_stream();
  }
  StreamRef legacy_default_stream() override { return inner.legacy_default_stream(); }
  Stream make_stream(StreamOptions options) override {
    ran_ = true;
    return inner.make_stream(options);
  }
  Event make_event(EventOptions options) override { return inner.make_event(options); }
  Flag make_flag() override { return inner.make_flag(); }
  DeviceMemory allocate(std::size_t bytes) override { return inner.allocate(bytes); }
  Pinned pin(std::span<std::byte> host) override { return inner.pin(host); }
  std::optional<std::span<std::byte>> mapped(std::span<std::byte> host) override { return inner.mapped(host); }
  void synchronize() override { inner.synchronize(); }
  std::optional<Error> take_refusal() override { return inner.take_refusal(); }
  std::optional<Error> lost() override {
    if (finds_no_memory.exchange(false)) throw std::bad_alloc();
    return inner.lost();
  }
  void abandon(Error const& why) override { inner.abandon(why); }
  bool abandoned() const noexcept override { return inner.abandoned(); }
  void keep(std::shared_ptr<void> thing) override { inner.keep(std::move(thing)); }

 private:
  std::atomic<bool> ran_{false};
};

/// `penstock hash --json` of one file on such a device. It must leave with nothing lent.
struct HashCommandOnADeviceThatFallsSilent : support::FolderOfFiles {
  DeviceThatFallsSilent device;
  std::stop_source interrupt;
  HashCommand command;
  StandardOutput output;
  std::string printed;
  std::optional<Error> thrown;
  ExitCode code = exit_ok;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    command.paths = {file("a", 5000)};
    command.pipeline.device = "cpu:0";  // Otherwise small files would not get to it.
    command.pipeline.values["tile"] = "64KiB";
    command.figures.json = true;
  }
  void TearDown() override {
    EXPECT_EQ(device.inner.outstanding(), cpu::Outstanding{});
    support::FolderOfFiles::TearDown();
  }
  void run() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      code = command.run_on(device, output, {}, interrupt.get_token());
    } catch (Error const& error) {
      thrown = error;
    }
    testing::internal::GetCapturedStderr();
    printed = testing::internal::GetCapturedStdout();
  }
};

TEST_F(HashCommandOnADeviceThatFallsSilent, SumsUpTheRunThatTheLossBrokeOff) {
  device.inner.inject(cpu::Fault::break_kernel);
  run();
  ASSERT_TRUE(thrown);
  EXPECT_EQ(thrown->kind(), ErrorKind::device_lost);
  EXPECT_THAT(printed, HasSubstr(R"("kind":"hash","summary":{"device":"CPU device","files":1,"problems":1)"));
}

TEST_F(HashCommandOnADeviceThatFallsSilent, WaitsForNoMoreInputOnceItIsLost) {
  device.inner.inject(cpu::Fault::break_kernel);
  support::PipeWriter const writer(path("pipe"));
  command.paths.push_back(path("pipe"));
  run();
  ASSERT_TRUE(thrown);
  EXPECT_EQ(thrown->kind(), ErrorKind::device_lost);
}

TEST_F(HashCommandOnADeviceThatFallsSilent, WaitsForNoMoreOfACheckListOnceItIsLost) {
  device.inner.inject(cpu::Fault::break_kernel);
  support::PipeWriter const writer(path("pipe"));
  writer.write(std::string(64, '0') + "  " + command.paths[0] + "\n");
  command.paths = {path("pipe")};
  command.check = true;
  run();
  ASSERT_TRUE(thrown);
  EXPECT_EQ(thrown->kind(), ErrorKind::device_lost);
}

/// Seen to fail where a run counted as a success though a file was cancelled.
TEST_F(HashCommandOnADeviceThatFallsSilent, SaysThatFilesHaveNoLineIfALaneGivesUp) {
  device.finds_no_memory = true;
  device.inner.inject(cpu::Fault::false_loss);  // So the lane asks the device.
  command.pipeline.values["signal"] = "callback";
  command.paths = {file("large", 2'000'000), file("another", 2'000'000)};
  run();
  EXPECT_FALSE(device.finds_no_memory);
  ASSERT_TRUE(thrown);
  EXPECT_EQ(thrown->kind(), ErrorKind::device_lost);
  EXPECT_THAT(thrown->what(), HasSubstr("The lane gave up: it found no memory."));
  EXPECT_THAT(thrown->what(), HasSubstr("Files that were not finished have no line"));
}

TEST_F(HashCommandOnADeviceThatFallsSilent, IsInterruptedAllTheSame) {
  interrupt.request_stop();
  run();
  EXPECT_FALSE(thrown) << thrown->what();
  EXPECT_EQ(code, exit_interrupted);
  EXPECT_THAT(printed, HasSubstr(R"("stopped":true)"));
}

/// `penstock hash --json` of a small file on the CPU device.
struct HashCommandOnTheCpuDevice : support::FolderOfFiles {
  std::string printed(std::string const& name) {
    cpu::FaultyCpuDevice device;
    StandardOutput output;
    HashCommand command;
    command.paths = {file("a", 5000)};
    command.figures.json = true;
    command.pipeline.device = name;
    testing::internal::CaptureStdout();
    EXPECT_EQ(command.run_on(device, output, {}, {}), exit_ok);
    return testing::internal::GetCapturedStdout();
  }
};

/// Seen to fail if a name stands for a device, whichever it is.
TEST_F(HashCommandOnTheCpuDevice, HashesSmallFilesWhereTheyAreReadIfTheCpusAreMeant) {
  EXPECT_THAT(printed("cpu"), HasSubstr(R"("small_files":{"files":1,)"));
  EXPECT_THAT(printed("cpu:0"), HasSubstr(R"("small_files":{"files":0,)"));
}

/// `penstock hash` of many files on two devices, of which the second breaks at its third tile.
struct HashCommandOnTwoDevices : support::FolderOfFiles {
  cpu::FaultyCpuDevice first{{.ordinal = 0, .compute_threads = 1}};
  cpu::FaultyCpuDevice second{{.ordinal = 1, .compute_threads = 1}};
  HashCommand command;
  StandardOutput output;
};

/// Seen to fail if the first tile that a loss fails ends the input.
TEST_F(HashCommandOnTwoDevices, GoesOnWithOneAndSaysWhichWasLost) {
  constexpr int files = 200;
  for (int i = 0; i < files; ++i) command.paths.push_back(file("f" + std::to_string(i), 70'000));
  command.pipeline.values["tile"] = "64KiB";
  command.pipeline.values["tiles"] = "8";
  command.figures.json = true;
  second.inject(cpu::Fault::break_kernel, 3);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  std::optional<Error> thrown;
  try {
    command.run_on(DeviceGroup(std::vector<Device*>{&first, &second}), output, {}, {});
  } catch (Error const& error) {
    thrown = error;
  }
  testing::internal::GetCapturedStderr();
  std::string const printed = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(thrown) << "whoever runs it is to see that a device is gone";
  EXPECT_EQ(thrown->kind(), ErrorKind::device_lost);
  EXPECT_THAT(thrown->what(), HasSubstr("cpu:1 was lost, and "));
  EXPECT_THAT(thrown->what(), HasSubstr("The other device went on."));
  EXPECT_THAT(printed, HasSubstr("\"files\":200,")) << "each file has its line";
  EXPECT_THAT(printed, ContainsRegex(R"re(\{"name":"cpu:0","lanes":[0-9]+,"tiles":\{"done":)re"));
}

}  // namespace
}  // namespace penstock::cli
