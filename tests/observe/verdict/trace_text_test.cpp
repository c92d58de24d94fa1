// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/trace_text.hpp"

#include <array>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "observe/verdict/a_recording.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

using Json = nlohmann::json;

/// Traces of the same run by two processes.
struct TwoTraces : testing::Test {
  std::ostringstream joined;
  void SetUp() override {
    std::stringstream one, other;
    write_trace(one, orderly_run(5), {.process = "penstock-legacy", .number = 2, .facts = {{"point", "its own"}}});
    write_trace(other, orderly_run(5), {.process = "penstock"});
    std::array<std::istream*, 2> const both{&one, &other};
    join_traces(joined, both, {{"device", "CPU \"device\""}});
  }
};

TEST_F(TwoTraces, AreOneOfTwoProcesses) {
  Json const trace = Json::parse(joined.str());
  EXPECT_EQ(trace.at("otherData"), (Json{{"device", "CPU \"device\""}}));
  std::map<int, std::string> names;
  std::map<int, int> slices;
  for (Json const& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") names[event.at("pid")] = event.at("args").at("name");
    if (event.at("ph") == "X") ++slices[event.at("pid")];
  }
  EXPECT_EQ(names, (std::map<int, std::string>{{1, "penstock"}, {2, "penstock-legacy"}}));
  EXPECT_EQ(slices, (std::map<int, int>{{1, 35}, {2, 35}}));
}

/// Seen to fail if ids are those of one process.
TEST_F(TwoTraces, ShareNoFlowAndNothingQueued) {
  std::map<std::string, std::set<int>> processes;
  Json const trace = Json::parse(joined.str());
  for (Json const& event : trace.at("traceEvents")) {
    if (event.contains("id"))
      processes[event.at("cat").get<std::string>() + event.at("id").dump()].insert(event.at("pid").get<int>());
  }
  EXPECT_EQ(processes.size(), 2u * 5 * 4) << "a flow and three queues for each tile";
  for (auto const& [id, those] : processes) EXPECT_EQ(those.size(), 1u) << id;
}

}  // namespace
}  // namespace penstock
