// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/head_start.hpp"

#include <atomic>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/gate.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_device.hpp"
#include "programs/hash/hash_command.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;

/// `penstock hash --json` of files whose device is opened when the test says so, if ever. It must leave with nothing
/// lent.
struct HashCommandWhoseDeviceTakesItsTime : support::FolderOfFiles {
  support::Gate gate;
  std::atomic<cpu::CpuDevice*> opened{nullptr};
  std::stop_source interrupt;
  HashCommand command;
  StandardOutput output;
  std::string printed, complaints;
  std::optional<Error> thrown;
  ExitCode code = exit_ok;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    command.pipeline.values["tile"] = "4KiB";
    command.figures.json = true;
  }
  void TearDown() override {
    gate.open();
    command = {};  // Waits for the device.
    support::FolderOfFiles::TearDown();
  }

  Devices open() {
    gate.pass();
    auto device = std::make_unique<cpu::CpuDevice>();
    opened = device.get();
    std::vector<std::unique_ptr<Device>> all;
    all.push_back(std::move(device));
    return Devices(std::move(all));
  }
  void run(HashCommand::OpenDevices const& open_devices) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      code = command.run_after_head_start(open_devices, output, interrupt.get_token());
    } catch (Error const& error) {
      thrown = error;
    }
    complaints = testing::internal::GetCapturedStderr();
    printed = testing::internal::GetCapturedStdout();
  }
  void run() {
    run([this] { return open(); });
  }
  /// The lines of the files, as a run on a device alone prints them.
  std::string lines() {
    cpu::CpuDevice alone;
    HashCommand same;
    same.paths = command.paths;
    same.pipeline.values = command.pipeline.values;
    same.figures.json = true;
    testing::internal::CaptureStdout();
    EXPECT_EQ(same.run_on(alone, output, {}, {}), exit_ok);
    std::string const all = testing::internal::GetCapturedStdout();
    return all.substr(0, all.find(R"({"schema":1,"kind":"hash",)"));
  }
};

/// Seen to fail if several threads claim at once.
TEST_F(HashCommandWhoseDeviceTakesItsTime, DoesNotWaitForOneThatItDoesNotNeed) {
  for (std::size_t const bytes : {0UL, 1UL, 4096UL, 5000UL, 100'000UL}) {
    command.paths.push_back(file("f" + std::to_string(bytes), bytes));
  }
  run();
  EXPECT_EQ(code, exit_ok);
  EXPECT_EQ(printed.substr(0, printed.find(R"({"schema":1,"kind":"hash",)")), lines());
  EXPECT_THAT(printed, HasSubstr(R"("device":"CPU",)"));
  EXPECT_THAT(printed, HasSubstr(R"("bytes":109097,)"));
  EXPECT_TRUE(command.leaves_device_starting());
}

/// Seen not to end if the pipeline's tiles are not made known to the source, and if the head start goes on.
TEST_F(HashCommandWhoseDeviceTakesItsTime, HasItDoTheRest) {
  std::string const tile(4096, 'x');
  command.paths = {path("pipe")};
  support::PipeWriter writer(path("pipe"));
  std::size_t tiles = 0;
  auto const write_tile = [&] {
    writer.write(tile);
    writer.await_read();
    ++tiles;
  };
  std::jthread runner([this] { run(); });
  write_tile();
  gate.open();
  // It has streams once it is the lanes' turn.
  while (opened == nullptr || opened.load()->outstanding().streams == 0) write_tile();
  write_tile();
  writer.end();
  runner.join();

  EXPECT_FALSE(thrown) << thrown->what();
  EXPECT_EQ(code, exit_ok);
  EXPECT_FALSE(command.leaves_device_starting());
  EXPECT_THAT(printed, HasSubstr(R"("device":"CPU device",)"));
  EXPECT_THAT(printed, HasSubstr("\"bytes\":" + std::to_string(tiles * tile.size()) + ","));
  EXPECT_THAT(printed, Not(HasSubstr(R"("head_start":{"tiles":0,)")));
  EXPECT_THAT(printed, Not(HasSubstr(R"("tiles":{"done":0,)")));
  auto const digest = printed.substr(printed.find("blake3"), 75);
  std::string all;
  for (std::size_t k = 0; k < tiles; ++k) all += tile;
  std::ofstream(path("same")) << all;
  command.paths = {path("same")};
  EXPECT_THAT(lines(), HasSubstr(digest));
}

/// Seen not to end if the input does not when the device cannot be had: the pipe has a writer that writes nothing.
TEST_F(HashCommandWhoseDeviceTakesItsTime, SaysWhyItCannotBeHad) {
  command.paths = {file("a", 5000), path("pipe")};
  support::PipeWriter const writer(path("pipe"));
  gate.open();
  run([this]() -> Devices {
    gate.pass();
    throw Error(ErrorKind::no_device, "There is none.");
  });
  ASSERT_TRUE(thrown);
  EXPECT_STREQ(thrown->what(), "There is none.");
}

TEST_F(HashCommandWhoseDeviceTakesItsTime, IsInterruptedBeforeItIsThere) {
  command.paths = {path("pipe")};
  support::PipeWriter const writer(path("pipe"));
  writer.write("abc");
  std::jthread runner([this] { run(); });
  writer.await_read();
  interrupt.request_stop();
  runner.join();
  EXPECT_EQ(code, exit_interrupted);
  EXPECT_THAT(printed, HasSubstr(R"("stopped":true)"));
  EXPECT_THAT(complaints, HasSubstr("Interrupted"));
}

TEST_F(HashCommandWhoseDeviceTakesItsTime, SaysWhichFilesCouldNotBeRead) {
  command.paths = {file("a", 5000), path("none"), file("b", 1)};
  run();
  EXPECT_EQ(code, exit_some_failed);
  EXPECT_THAT(complaints, HasSubstr("none: No such file or directory (os error 2)"));
  EXPECT_THAT(printed, HasSubstr(R"("files":3,"problems":1)"));
}

TEST_F(HashCommandWhoseDeviceTakesItsTime, ChecksSums) {
  std::string const sum(64, '0');
  std::ofstream(path("sums")) << sum << "  " << file("a", 5000) << "\n";
  command.paths = {path("sums")};
  command.check = true;
  command.figures.json = false;
  run();
  EXPECT_EQ(code, exit_some_failed);
  EXPECT_EQ(printed, path("a") + ": FAILED\n");
}

}  // namespace
}  // namespace penstock::cli
