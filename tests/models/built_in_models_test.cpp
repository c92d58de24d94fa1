// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/models.hpp"
#include "models/timeline_world.hpp"

namespace penstock {
namespace {

using cpu::DeviceModel;
using Kind = cpu::Request::Kind;

class EachModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(BuiltIn, EachModel, testing::ValuesIn(built_in_models()),
                         [](auto const& info) { return info.param; });

TEST_P(EachModel, IsTheSameOnceItWasWrittenAndRead) {
  std::string const text = model_text(built_in_model(GetParam()).value());
  EXPECT_EQ(model_text(read_model(text, "a file")), text);
}

TEST_P(EachModel, SaysWhereItsNumbersAreFrom) {
  DeviceModel const model = built_in_model(GetParam()).value();
  EXPECT_THAT(model.source, testing::AnyOf(testing::HasSubstr("Measured"), testing::HasSubstr("ublished")));
  EXPECT_THAT(model.source, testing::HasSubstr("y the architecture: "));
  EXPECT_THAT(model.link_name, testing::AnyOf(testing::StartsWith("PCIe"), testing::StartsWith("NVLink")));
}

TEST(BuiltInModels, HaveNamesOfTheirOwn) {
  std::set<std::string> devices;
  for (std::string const& name : built_in_models()) devices.insert(built_in_model(name)->name);
  EXPECT_EQ(devices.size(), built_in_models().size());
}

/// Four streams, each with a fourth of 4 Mi floats: copied up, a kernel on them, copied back.
enum class Issue { one_stream, by_stream, by_step };
constexpr std::size_t streams = 4;

double milliseconds(std::string const& name, Issue issue) {
  cpu::TimelineOf device(built_in_model(name).value());
  constexpr std::size_t floats = (std::size_t{1} << 22) / streams;
  constexpr double flops = 820.0 * floats;  // kernels/transform has as many, and computes the same.
  std::vector<cpu::StreamState*> all;
  for (std::size_t i = 0; i < streams; ++i) {
    all.push_back(issue == Issue::one_stream && i > 0 ? all.front() : &device.stream());
  }
  cpu::Operation const* last = nullptr;
  auto const step = [&](cpu::StreamState& stream, Kind kind) -> cpu::Operation& {
    if (kind == Kind::kernel) return device.kernel(stream, {.flops = flops});
    return device.copy(stream, kind, floats * sizeof(float));
  };
  for (std::size_t i = 0; i < streams; ++i) {
    for (Kind const kind : {Kind::upload, Kind::kernel, Kind::download}) {
      if (issue != Issue::by_step) last = &step(*all[i], kind);
    }
  }
  for (Kind const kind : {Kind::upload, Kind::kernel, Kind::download}) {
    for (std::size_t i = 0; i < streams && issue == Issue::by_step; ++i) last = &step(*all[i], kind);
  }
  device.run();
  return std::chrono::duration<double, std::milli>(modelled(*last).end.time_since_epoch()).count();
}

/// Times that were published for a card, in milliseconds.
struct Published {
  std::string card;
  double one_stream, by_stream, by_step;
};

class PublishedTimes : public testing::TestWithParam<Published> {};
INSTANTIATE_TEST_SUITE_P(Of2012, PublishedTimes,
                         testing::Values(Published{"c1060", 12.92, 13.64, 8.85}, Published{"c2050", 9.98, 5.74, 7.60},
                                         Published{"k20c", 7.10, 3.97, 3.97}),
                         [](auto const& info) { return info.param.card; });

TEST_P(PublishedTimes, AreThoseOfTheModel) {
  auto const& [card, one_stream, by_stream, by_step] = GetParam();
  auto const within = [](double published) { return 0.06 * published; };
  EXPECT_NEAR(milliseconds(card, Issue::one_stream), one_stream, within(one_stream));
  EXPECT_NEAR(milliseconds(card, Issue::by_stream), by_stream, within(by_stream));
  EXPECT_NEAR(milliseconds(card, Issue::by_step), by_step, within(by_step));
}

}  // namespace
}  // namespace penstock
