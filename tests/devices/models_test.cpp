// SPDX-License-Identifier: Apache-2.0
#include "penstock/devices/models.hpp"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "penstock/device.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

/// What reading it is refused with; empty if it is read.
std::string refusal_of(Json const& json) {
  try {
    static_cast<void>(read_model(json.dump(), "mine.json"));
    return "";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
}

Json written(std::string const& name) {
  return Json::parse(model_text(built_in_model(name).value()));
}

TEST(Model, IsRefusedWithoutAnyOfItsNumbers) {
  Json const whole = written("h200");
  std::size_t numbers = 0;
  for (auto const& [part, members] : whole.items()) {
    if (!members.is_object()) continue;
    for (auto const& [name, value] : members.items()) {
      if (!value.is_number()) continue;
      ++numbers;
      Json without = whole;
      without[part].erase(name);
      bool const needed = name != "at_once" && name != "signal_together" && name != "peer_gb_s";
      EXPECT_EQ(refusal_of(without).find(part + "." + name + " is missing") != std::string::npos, needed) << name;
      Json below = whole;
      below[part][name] = -1;
      EXPECT_THAT(refusal_of(below), HasSubstr(part + "." + name + " is no number from 0"));
      Json text = whole;
      text[part][name] = "many";
      EXPECT_THAT(refusal_of(text), HasSubstr(part + "." + name + " is no number from 0"));
    }
  }
  EXPECT_GT(numbers, 20U);
}

TEST(Model, IsLikeMostDevicesInWhatItDoesNotSay) {
  Json json = written("c1060");
  json["kernels"].erase("at_once");
  json["kernels"].erase("signal_together");
  json["link"].erase("peer_gb_s");
  cpu::DeviceModel const model = read_model(json.dump(), "mine.json");
  EXPECT_EQ(model.kernels.at_once, 128U);
  EXPECT_FALSE(model.kernels.signal_together);
  EXPECT_EQ(model.link.peer, 0);
}

TEST(Model, IsRefusedWithWhatCannotBe) {
  EXPECT_THAT(refusal_of("text"), HasSubstr("mine.json: It is no model"));
  Json json = written("h200");
  json["schema"] = 2;
  EXPECT_THAT(refusal_of(json), HasSubstr("schema"));
  json = written("h200");
  json["kind"] = "profile";
  EXPECT_THAT(refusal_of(json), HasSubstr("It is no model"));
  json = written("h200");
  json["link"]["up_gb_s"] = 0;
  EXPECT_THAT(refusal_of(json), HasSubstr("must be 0.000001 or more"));
  json = written("h200");
  json["kernels"]["multiprocessors"] = 0;
  EXPECT_THAT(refusal_of(json), HasSubstr("must be at least 1"));
  json = written("h200");
  json.erase("source");
  EXPECT_THAT(refusal_of(json), HasSubstr("source is no text"));
}

TEST(Model, IsNamedWithTheFactorOfItsClock) {
  EXPECT_EQ(model_of("h200").slower, 20U);
  EXPECT_EQ(model_of("h200@50").slower, 50U);
  EXPECT_EQ(model_of("h200@2").slower, 2U);
  for (std::string const wrong : {"h200@", "h200@0", "h200@1", "h200@x", "h200@-1", "h200@99999"}) {
    EXPECT_THROW(static_cast<void>(model_of(wrong)), Error) << wrong;
  }
}

TEST(Model, IsFoundByTheNameOfADeviceOfIt) {
  DeviceInfo info;
  info.modelled = true;
  info.model = model_of("h200@50").model.called;
  EXPECT_EQ(device_name(info), "model:h200");
  info.ordinal = 1;
  EXPECT_EQ(device_name(info), "model:h200#1");
  EXPECT_EQ(model_of("h200#1@50").model.called, "h200");
  EXPECT_THROW(static_cast<void>(model_of("h200#")), Error);
}

TEST(Model, IsReadFromAFile) {
  std::string const path = testing::TempDir() + "/model_of_the_test.json";
  cpu::DeviceModel model = built_in_model("h200").value();
  model.name = "mine";
  std::ofstream(path) << model_text(model);
  EXPECT_EQ(model_of(path + "@30").model.name, "mine");
  EXPECT_EQ(model_of(path + "@30").model.called, path);
}

TEST(Model, ThatIsNotThereIsRefusedWithThoseThatAre) {
  try {
    static_cast<void>(model_of("none_of_this_name"));
    FAIL() << "there is one";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("none_of_this_name"));
    EXPECT_THAT(error.what(), HasSubstr("h200"));
  }
}

}  // namespace
}  // namespace penstock
