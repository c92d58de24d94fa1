// SPDX-License-Identifier: Apache-2.0
// The nodes and edges of a pipeline's graph, as the pipeline says them.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// A pipeline of two lanes on a CPU device, of which nothing is run.
struct TheGraphOfAPipeline : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  PipelineOptions options{.tile = {.input_bytes = 4096}, .producers = 1, .lanes = 2};
  std::unique_ptr<Pipeline> pipeline;

  std::vector<GraphNode> nodes() {
    pipeline = std::make_unique<Pipeline>(device, options);
    return pipeline->graph();
  }
};

TEST_F(TheGraphOfAPipeline, LeadsFromTheLanesToTheSink) {
  EXPECT_EQ(describe(nodes()), "lanes, 2 of them -> sink\nsink, one at a time");
}

TEST_F(TheGraphOfAPipeline, HasANodeForEachHostStageAndForTheOrder) {
  options.host_stages = {{.name = "decode", .body = [](Tile&) {}, .at_once = 3}, {.body = [](Tile&) {}}};
  options.ordered = true;
  EXPECT_EQ(describe(nodes()),
            "decode, up to 3 at once -> host stage 2\n"
            "host stage 2, one for each consumer -> lanes\n"
            "lanes, 2 of them -> order and sink\n"
            "order and sink, one at a time");
  options.parallel_sink = true;
  EXPECT_EQ(nodes().back().name, "sink");
  EXPECT_EQ(nodes().back().at_once, 0U);
}

TEST_F(TheGraphOfAPipeline, HasNoNodeForASinkThatLanesCall) {
  options.tuning.sink_on_lanes = true;
  EXPECT_EQ(describe(nodes()), "no node: producers hand tiles to lanes, which call the sink");
}

TEST_F(TheGraphOfAPipeline, IsAPictureForGraphviz) {
  options.host_stages = {{.name = "the \"first\"", .body = [](Tile&) {}, .at_once = 1}};
  EXPECT_EQ(as_dot(nodes()),
            "digraph pipeline {\n"
            "  rankdir=LR;\n"
            "  n0 [label=\"the \\\"first\\\", one at a time\"];\n"
            "  n0 -> n1;\n"
            "  n1 [label=\"lanes, 2 of them\"];\n"
            "  n1 -> n2;\n"
            "  n2 [label=\"sink, one at a time\"];\n"
            "}\n");
}

}  // namespace
}  // namespace penstock
