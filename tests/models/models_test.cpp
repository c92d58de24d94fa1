// SPDX-License-Identifier: Apache-2.0
#include "models/models.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "penstock/device.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

/// Returns the error with which reading it is refused; empty if it is read.
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
      bool const needed = name != "at_once" && name != "signal_together" && name != "peer_gb_s" &&
                          name != "event_resolution_us" && name != "beside_kernels" && name != "far_gb_s" &&
                          name != "tensor_tera_flops" && name != "far_down_gb_s" && name != "numa_nodes" &&
                          name != "barrier_us";
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
  json["completions"].erase("event_resolution_us");
  json["link"].erase("beside_kernels");
  json["link"].erase("far_gb_s");
  json["link"].erase("far_down_gb_s");
  json["host"].erase("numa_nodes");
  json["kernels"].erase("tensor_tera_flops");
  json["kernels"].erase("barrier_us");
  EXPECT_FALSE(json["host"].contains("numa_node")) << "penstock's models are on no node";
  cpu::DeviceModel const model = read_model(json.dump(), "mine.json");
  EXPECT_EQ(model.kernels.at_once, 128U);
  EXPECT_FALSE(model.kernels.signal_together);
  EXPECT_EQ(model.link.peer, 0);
  EXPECT_EQ(model.peer_name, "");
  EXPECT_EQ(model.completions.event_resolution.count(), 0) << "its events are exact";
  EXPECT_EQ(model.node, -1);
  EXPECT_EQ(model.host_nodes, 0U);
  json["host"]["numa_node"] = 1;
  EXPECT_EQ(read_model(json.dump(), "mine.json").node, 1);
  EXPECT_EQ(model.link.beside_kernels, 1) << "kernels do not slow its copies down";
  EXPECT_EQ(model.kernels.tensor_tera_flops, 0) << "it has no tensor cores";
}

TEST(Model, NamesItsLinkToAnotherGpu) {
  Json json = written("a100");
  EXPECT_EQ(json["link"]["peer"], "NVLink 3");
  EXPECT_EQ(read_model(json.dump(), "mine.json").peer_name, "NVLink 3");
  json["link"]["peer"] = 3;
  EXPECT_THAT(refusal_of(json), HasSubstr("peer is no text"));
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
  for (std::string const rate : {"link/both_gb_s", "kernels/memory_gb_s", "kernels/tera_flops"}) {
    json = written("h200");
    json[Json::json_pointer("/" + rate)] = 0;
    EXPECT_THAT(refusal_of(json), HasSubstr("must be 0.000001 or more")) << rate;
  }
  json = written("h200");
  json["memory"]["bytes"] = 0;
  EXPECT_THAT(refusal_of(json), HasSubstr("memory.bytes"));
  for (std::string const whole : {"link/copy_engines", "link/copies_in_order_of_issue", "kernels/signal_together",
                                  "kernels/multiprocessors", "memory/bytes", "host/cpus"}) {
    json = written("h200");
    json[Json::json_pointer("/" + whole)] = whole == "link/copy_engines" ? 1.7 : 0.4;
    EXPECT_THAT(refusal_of(json), HasSubstr(" is no whole number from 0 to ")) << whole;
  }
  json = written("h200");
  json.erase("source");
  EXPECT_THAT(refusal_of(json), HasSubstr("source is no text"));
}

TEST(Model, IsRefusedWithNamesThatATerminalObeys) {
  for (char const* const text : {"a\x1b[2J", "a\nb", "a\x7f",
                                 "a\xc2\x9b"
                                 "2J"}) {
    Json json = written("h200");
    json["name"] = text;
    EXPECT_THAT(refusal_of(json), HasSubstr("name has control characters"));
    json = written("h200");
    json["link"]["name"] = text;
    EXPECT_THAT(refusal_of(json), HasSubstr("name has control characters"));
  }
  Json json = written("h200");
  json["name"] =
      "\xc3\x9c"
      "ber 9000 \xc2\xa9";
  EXPECT_EQ(refusal_of(json), "");
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

TEST(Model, MayBeInAFileWithAnAtInItsName) {
  std::string const path = testing::TempDir() + "/model@the_test.json";
  std::ofstream(path) << model_text(built_in_model("h200").value());
  EXPECT_EQ(model_of(path).slower, 20U);
  EXPECT_EQ(model_of(path).model.called, path);
  EXPECT_EQ(model_of(path + "@30").slower, 30U);
}

TEST(Model, IsNotReadFromWhatIsNoFile) {
  std::string const path = testing::TempDir() + "/pipe_of_the_test";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (std::string const& each : {path, testing::TempDir()}) {
    try {
      static_cast<void>(model_of(each));
      ADD_FAILURE() << each;
    } catch (Error const& error) {
      EXPECT_THAT(error.what(), HasSubstr("It is no regular file"));
    }
  }
  std::filesystem::remove(path);
}

TEST(Model, ThatIsNotThereIsRefusedWithThoseThatAre) {
  try {
    static_cast<void>(model_of("none_of_this_name"));
    FAIL() << "there is one";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("none_of_this_name"));
    EXPECT_THAT(error.what(), HasSubstr("h200"));
  }
  try {
    static_cast<void>(model_of("h200@x"));
    FAIL() << "there is one";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("Behind @ a number says by how much the clock is slower"));
  }
}

}  // namespace
}  // namespace penstock
