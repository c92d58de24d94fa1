// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "penstock/error.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock {

using Json = nlohmann::ordered_json;

/// A profile with no value at its default, and a folder for files.
struct AProfile : testing::Test {
  Profile profile{.version = "1.2.3",
                  .date = "2026-01-01T00:00:00Z",
                  .machine = {.cpu = "Some CPU", .cpus = 8, .device = "Some GPU", .driver = "1.0", .flavour = "legacy"},
                  .job = {.work = "busy:20us",
                          .fill = "memcpy",
                          .direction = "in",
                          .streams = "own",
                          .sink = "lanes",
                          .name = "count",
                          .options = {{"bins", "12"}, {"order", "sorted"}}},
                  .tile_bytes = 65536,
                  .options = {.tile = {.input_bytes = 65536, .output_bytes = 112},
                              .aim = Aim::latency,
                              .producers = 3,
                              .lanes = 4,
                              .consumers = 2,
                              .tuning = {.tiles = 99,
                                         .memory = std::size_t{5} << 20,
                                         .batch = 6,
                                         .slots = 24,
                                         .spin = std::chrono::microseconds(200),
                                         .shape = LaneShape::single,
                                         .transport = Transport::copies,
                                         .graphs = Graphs::never,
                                         .signal = SignalKind::flag}},
                  .rate = ProfiledSpread{.median = 12.5, .least = 12.25, .most = 13},
                  .defaults_rate = ProfiledSpread{.median = 10, .least = 9, .most = 11}};
  std::filesystem::path folder;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "profile-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path file(std::string const& text) {
    std::ofstream(folder / "profile") << text;
    return folder / "profile";
  }
  Json json() const { return Json::parse(profile_text(profile)); }
  static std::string refusal(std::string const& text) {
    try {
      parse_profile(text, "it");
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
    ADD_FAILURE() << "was taken: " << text.substr(0, 300);
    return "";
  }
};

}  // namespace penstock
