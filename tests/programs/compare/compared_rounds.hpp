// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "programs/command/claim.hpp"
#include "programs/compare/comparison.hpp"

namespace penstock::cli {

using Json = nlohmann::ordered_json;

/// The claim that the speed-up is at least that.
inline Claim at_least(double times) {
  constexpr std::array<std::string_view, 1> figures{"speed_up"};
  return {"speed_up >= " + std::to_string(times), figures, "speed_up >= 1.5"};
}

/// Results of one round with points at 1 and 16 threads.
struct Round {
  double one;
  double sixteen;
  std::string streams = "default";

  std::string json() const {
    Json json{{"schema", 1},
              {"kind", "bench"},
              {"penstock", {{"version", "0.1.0"}, {"commit", "abc"}, {"flavour", "per-thread"}}},
              {"machine", {{"host", "here"}, {"cpu", "A CPU, fast"}, {"cpus", 8}}},
              {"device", {{"name", "A device"}, {"driver", nullptr}}},
              {"axes", {{{"name", "producers"}, {"values", {1, 16}}}}},
              {"options", {{"tile", 4096}, {"streams", streams}}},
              {"points", Json::array()},
              {"compare", nullptr}};
    for (auto const& [threads, tiles] : {std::pair{1, one}, std::pair{16, sixteen}}) {
      json["points"].push_back({{"axes", {{"producers", threads}}},
                                {"gb_per_s", {{"median", tiles * 4096 / 1e9}}},
                                {"tiles_per_s", {{"median", tiles}}},
                                {"cpu_s_per_gb", {{"median", 1.0}}},
                                {"error", nullptr}});
    }
    return json.dump();
  }
};

/// A round, with the first of them from the legacy program.
inline void add(Comparison& comparison, std::string const& legacy, std::string const& per_thread) {
  Json of_legacy = Json::parse(legacy);
  of_legacy["penstock"]["flavour"] = "legacy";
  comparison.add(of_legacy.dump(), per_thread);
}

/// Three rounds in which per-thread is as fast with one thread and 3.5 to 3.7 times as fast with sixteen.
struct AComparison : testing::Test {
  Comparison comparison;
  void SetUp() override {
    add(comparison, Round{1000, 1000}.json(), Round{1000, 3500}.json());
    add(comparison, Round{1000, 2000}.json(), Round{1000, 7200}.json());
    add(comparison, Round{1000, 1000}.json(), Round{1000, 3700}.json());
  }
};

}  // namespace penstock::cli
