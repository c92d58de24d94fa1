// SPDX-License-Identifier: Apache-2.0
#include "models/timeline.hpp"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "models/timeline_world.hpp"

namespace penstock::cpu {
namespace {

using namespace std::chrono_literals;

TEST(Timeline, LetsCopiesOfOneDirectionStandInLine) {
  TimelineOf device(plain_model());
  Operation const& one = device.copy(device.stream(), Kind::upload, 1'000);
  Operation const& other = device.copy(device.stream(), Kind::upload, 500);
  device.run();
  EXPECT_EQ(device.end(one), 1'000ns);
  EXPECT_EQ(device.begin(other), 1'000ns);
  EXPECT_EQ(device.end(other), 1'500ns);
}

TEST(Timeline, SlowsCopiesThatGoBothWaysAtOnceForAsLongAsTheyDo) {
  DeviceModel model = plain_model();
  model.link.both = 0.5;
  TimelineOf device(model);
  Operation const& up = device.copy(device.stream(), Kind::upload, 1'000);
  Operation const& down = device.copy(device.stream(), Kind::download, 100);
  device.run();
  EXPECT_EQ(device.end(down), 200ns);
  EXPECT_EQ(device.end(up), 1'100ns) << "100 bytes of it went at half the rate";
}

TEST(Timeline, SharesOneCopyEngineAmongBothDirections) {
  DeviceModel model = plain_model();
  model.copy_engines = 1;
  TimelineOf device(model);
  device.copy(device.stream(), Kind::upload, 1'000);
  Operation const& down = device.copy(device.stream(), Kind::download, 100);
  device.run();
  EXPECT_EQ(device.begin(down), 1'000ns);
}

/// Two streams, each with a copy up, a kernel and a copy down, asked for stream by stream. When the second upload
/// begins.
std::chrono::nanoseconds second_upload_begins(bool in_order_of_issue) {
  DeviceModel model = plain_model();
  model.copy_engines = 1;
  model.copies_in_order_of_issue = in_order_of_issue;
  TimelineOf device(model);
  Operation const* last = nullptr;
  for (int i = 0; i < 2; ++i) {
    StreamState& stream = device.stream();
    last = &device.copy(stream, Kind::upload, 1'000);
    device.kernel(stream, {.time = 5us});
    device.copy(stream, Kind::download, 1'000);
  }
  device.run();
  return device.begin(*last);
}

TEST(Timeline, HoldsUpACopyBehindOneThatWaitsForItsStreamIfCopiesGoInOrderOfIssue) {
  EXPECT_EQ(second_upload_begins(false), 1us);
  EXPECT_EQ(second_upload_begins(true), 7us) << "behind the first download, which is behind the first kernel";
}

TEST(Timeline, TakesAKernelsCostFromTheSlowestOfWhatItDoes) {
  TimelineOf device(plain_model());
  std::vector<std::byte> bytes(20'000);
  auto const of = [&](std::size_t count) { return DeviceSpan<std::byte const>(bytes.data(), count); };
  Operation const& reads = device.kernel(device.stream(), {.reads = {of(10'000)}, .writes = of(10'000)});
  device.run();
  EXPECT_EQ(device.end(reads), 2us) << "at 10 GB/s";
  Operation const& computes = device.kernel(device.stream(), {.reads = {of(10)}, .flops = 5e6});
  device.run();
  EXPECT_EQ(modelled(computes).end - modelled(computes).begin, 5us) << "at a tera-FLOP a second";
}

TEST(Timeline, ComputesOnTensorCoresAtTheirOwnRateIfThereAreSome) {
  auto const time_of = [](double tensor_tera_flops) {
    DeviceModel model = plain_model();
    model.kernels.tensor_tera_flops = tensor_tera_flops;
    TimelineOf device(model);
    Operation const& kernel = device.kernel(device.stream(), {.tensor_flops = 8e6});
    device.run();
    return device.end(kernel);
  };
  EXPECT_EQ(time_of(8), 1us);
  EXPECT_EQ(time_of(0), 8us) << "at that of the other units";
}

TEST(Timeline, AddsTheBarriersOfAKernelToItsTime) {
  DeviceModel model = plain_model();
  model.kernels.barrier = Micro(0.5);
  TimelineOf device(model);
  Operation const& kernel = device.kernel(device.stream(), {.time = 10us, .blocks = 1, .barriers = 4});
  device.run();
  EXPECT_EQ(device.end(kernel), 12us);
}

TEST(Timeline, LetsKernelsShareTheMultiprocessorsIfTheyFit) {
  TimelineOf device(plain_model());
  Operation const& one = device.kernel(device.stream(), {.time = 10us, .blocks = 1});
  Operation const& other = device.kernel(device.stream(), {.time = 10us, .blocks = 1});
  device.run();
  EXPECT_EQ(device.end(one), 10us);
  EXPECT_EQ(device.end(other), 10us);
}

TEST(Timeline, RunsKernelsThatDoNotFitTogetherInTheirOrder) {
  TimelineOf device(plain_model());
  Operation const& one = device.kernel(device.stream(), {.time = 10us, .blocks = 2});
  Operation const& other = device.kernel(device.stream(), {.time = 10us, .blocks = 1});
  device.run();
  EXPECT_EQ(device.end(one), 10us);
  EXPECT_EQ(device.begin(other), 10us);
  EXPECT_EQ(device.end(other), 20us);
}

TEST(Timeline, ServesAMoreUrgentKernelFirstOfThoseThatWait) {
  TimelineOf device(plain_model());
  device.kernel(device.stream(), {.time = 10us, .blocks = 2});
  Operation const& patient = device.kernel(device.stream(), {.time = 10us, .blocks = 2});
  Operation const& urgent = device.kernel(device.stream(greatest_priority), {.time = 10us, .blocks = 2});
  device.run();
  EXPECT_EQ(device.end(urgent), 20us);
  EXPECT_EQ(device.end(patient), 30us);
}

TEST(Timeline, LetsAMoreUrgentKernelInBetweenTwoWaves) {
  TimelineOf device(plain_model());
  Operation const& long_one = device.kernel(device.stream(), {.time = 10us, .blocks = 6});
  device.pass(1us);
  Operation const& urgent = device.kernel(device.stream(greatest_priority), {.time = 10us, .blocks = 2});
  device.run();
  EXPECT_EQ(device.begin(urgent), 10us);
  EXPECT_EQ(device.end(urgent), 20us);
  EXPECT_EQ(device.begin(long_one), 0us);
  EXPECT_EQ(device.end(long_one), 40us);
}

TEST(Timeline, RunsAGridThatIsTooLargeInWaves) {
  TimelineOf device(plain_model());
  Operation const& kernel = device.kernel(device.stream(), {.time = 10us, .blocks = 5});
  device.run();
  EXPECT_EQ(device.end(kernel), 30us) << "two blocks at a time";
}

TEST(Timeline, TakesTimeToHandOverFromCopiesToKernelsAndBack) {
  DeviceModel model = plain_model();
  model.kernels.handover = Micro(2);
  TimelineOf device(model);
  StreamState& stream = device.stream();
  device.copy(stream, Kind::upload, 1'000);
  Operation const& copy = device.copy(stream, Kind::upload, 1'000);
  EventState event(true);
  Operation const& record = device.put(stream, {.kind = Kind::record, .event = &event});
  Operation const& kernel = device.kernel(stream, {.time = 1us});
  Operation const& down = device.copy(stream, Kind::download, 1'000);
  device.run();
  EXPECT_EQ(device.begin(copy), 1us) << "behind a copy";
  EXPECT_EQ(device.end(record), 2us);
  EXPECT_EQ(device.begin(kernel), 4us);
  EXPECT_EQ(device.begin(down), 7us);
}

TEST(Timeline, LetsRecordsAndWaitsTakeNoTime) {
  TimelineOf device(plain_model());
  StreamState& stream = device.stream();
  Operation const& copy = device.copy(stream, Kind::upload, 1'000);
  EventState event(true);
  Operation const& record = device.put(stream, {.kind = Kind::record, .event = &event});
  StreamState& other = device.stream();
  device.put(other, {.kind = Kind::wait, .event = &event});
  Operation const& behind = device.copy(other, Kind::download, 10);
  device.run();
  EXPECT_EQ(device.end(record), device.end(copy));
  EXPECT_EQ(device.begin(behind), device.end(copy));
}

TEST(Timeline, CallsACallbackAfterItsLatencyAndGoesOnOnceItReturned) {
  DeviceModel model = plain_model();
  model.completions = {.noticed = Micro(3), .called = Micro(5)};
  TimelineOf device(model);
  StreamState& stream = device.stream();
  Operation& call = device.put(stream, {.kind = Kind::callback});
  Operation const& behind = device.copy(stream, Kind::upload, 10);
  device.timeline().advance(device.now() + 7'999ns);
  EXPECT_EQ(device.timeline().next_due(), nullptr);
  EXPECT_EQ(device.timeline().next_event(), device.now() + 8us);
  device.timeline().advance(device.now() + 8us);
  EXPECT_EQ(device.timeline().next_due(), &call);
  device.timeline().called(call, device.now() + 20us);
  device.run();
  EXPECT_EQ(device.begin(behind), 20us);
}

TEST(Timeline, DoesNotDependOnHowOftenItIsAdvanced) {
  auto const last_end = [](std::chrono::nanoseconds between_looks) {
    DeviceModel model = plain_model();
    model.link.both = 0.7;
    TimelineOf device(model);
    Operation const* last = nullptr;
    for (int i = 0; i < 4; ++i) {
      StreamState& stream = device.stream();
      device.copy(stream, Kind::upload, 1'000);
      device.kernel(stream, {.time = 700ns});
      last = &device.copy(stream, Kind::download, 900);
    }
    for (auto at = 0ns; at < 20us; at += between_looks) device.timeline().advance(device.now() + at);
    device.run();
    return device.end(*last);
  };
  auto const seldom = last_end(20us);
  EXPECT_NEAR(static_cast<double>(last_end(7ns).count()), static_cast<double>(seldom.count()), 8);
}

TEST(Timeline, GoesOnWithCopiesWhileACallbackReturns) {
  TimelineOf device(plain_model());
  Operation const& copy = device.copy(device.stream(), Kind::upload, 1'000);
  Operation& call = device.put(device.stream(), {.kind = Kind::callback});
  device.timeline().advance(device.now());
  device.timeline().called(call, device.now() + 600ns);
  device.run();
  EXPECT_EQ(device.end(copy), 1'000ns);
}

TEST(Timeline, GoesOnWithCopiesWhileOthersArePutIn) {
  TimelineOf device(plain_model());
  Operation const& copy = device.copy(device.stream(), Kind::upload, 1'000);
  device.pass(600ns);
  device.copy(device.stream(), Kind::download, 10);
  device.run();
  EXPECT_EQ(device.end(copy), 1'000ns);
}

TEST(Timeline, SaysWhatIsOverInTheOrderOfTheEnds) {
  TimelineOf device(plain_model());
  Operation const& slow = device.copy(device.stream(), Kind::upload, 1'000);
  Operation const& quick = device.copy(device.stream(), Kind::download, 10);
  device.run();
  EXPECT_EQ(device.timeline().next_over(), &quick);
  EXPECT_EQ(device.timeline().next_over(), &slow);
  EXPECT_EQ(device.timeline().next_over(), nullptr);
}

}  // namespace
}  // namespace penstock::cpu
