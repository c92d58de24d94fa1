// SPDX-License-Identifier: Apache-2.0
// Experiments from texts on streams on modelled GPUs, whose times are known.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "course/experiment.hpp"
#include "course/gain.hpp"
#include "course/small_batch.hpp"
#include "course/wrong_device.hpp"
#include "models/host_keeper.hpp"
#include "models/modelled_time.hpp"
#include "models/models.hpp"
#include "penstock/clock.hpp"

namespace penstock::lab {
namespace {

using support::WrongDevice;

cpu::DeviceModel one_engine() {
  auto model = built_in_model("h200").value();
  model.copy_engines = 1;
  model.copies_in_order_of_issue = true;
  return model;
}

/// A model on a clock that is 20 times slower.
struct AModel : testing::Test {
  AModel() { cpu::slow_clock(20); }
  static cpu::CpuOptions options(cpu::DeviceModel const& model = built_in_model("h200").value()) {
    return {.compute_threads = 2, .time = cpu::modelled_time(model)};
  }
  static Figure figure(Observation const& seen, std::string const& what) {
    for (Figure const& figure : seen.figures) {
      if (figure.what == what) return figure;
    }
    throw std::runtime_error("no figure " + what);
  }
  /// Observes until all these figures are what the model says, to a twentieth: a thread of the host that is held up
  /// between two calls makes a device wait, and a time longer. Fails if that takes twenty tries.
  static Observation observe_until_near(cpu::DeviceModel const& model, Experiment const& experiment,
                                        std::vector<std::pair<std::string, double>> const& expected) {
    cpu::CpuDevice device(options(model));
    std::string others;
    for (int tries = 0; tries < 20; ++tries) {
      auto seen = observe(device, experiment);
      others.clear();
      for (auto const& [what, value] : expected) {
        double const was = figure(seen, what).value;
        if (std::abs(was - value) > value / 20) others += what + ": " + std::to_string(was) + "; ";
      }
      if (others.empty()) return seen;
    }
    ADD_FAILURE() << others;
    return observe(device, experiment);
  }
};

TEST_F(AModel, TakesLittleMoreThanIsPossibleForPartsOverStreams) {
  cpu::CpuDevice device(options());
  auto const seen = observe(device, streams());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_LT(figure(seen, "4 streams").value, figure(seen, "1 stream").value);
  EXPECT_GE(figure(seen, "1 stream").text.value(), 1.9 * figure(seen, "2 streams").text.value());
  Figure const up = figure(seen, "all copies up"), kernels = figure(seen, "all kernels");
  EXPECT_NEAR(kernels.text.value() / up.text.value(), 18.5 / 10.2, 0.01) << "as in the text";
  EXPECT_NEAR(kernels.value, kernels.text.value(), kernels.value / 4);
  EXPECT_EQ(up.beside.front().second, "copies up");
  EXPECT_EQ(figure(seen, "all copies down").beside.front().second, "copies down");
}

TEST_F(AModel, IsBoundByItsLinkWhereKernelsAreShort) {
  cpu::CpuDevice device(options());
  auto const seen = observe(device, short_kernel());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_LT(figure(seen, "4 streams").possible.value(), figure(seen, "4 streams").text.value());
}

TEST_F(AModel, IsTwiceAsFastAtBestForFourPartsOfEqualSteps) {
  cpu::CpuDevice device(options());
  auto const seen = observe(device, equal_steps());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_EQ(seen.intervals.front().row, "one stream") << "above the four";
  Figure const ratio = figure(seen, "4 streams, times as fast");
  EXPECT_NEAR(ratio.possible.value(), 2, 0.1);
  EXPECT_EQ(ratio.text, 3);
}

TEST_F(AModel, SeesWhatIsExpected) {
  cpu::CpuDevice device(options());
  for (auto const& experiment :
       {buffers(), blocking_loop(), slow_callback(), vector_add(), graph_calls(), progression()}) {
    auto const seen = observe(device, experiment);
    EXPECT_TRUE(seen.verdict.as_expected) << experiment.name << ": " << seen.verdict.fact;
  }
}

TEST_F(AModel, HasThreadsThatUseNoMoreCpuTimeThanPasses) {
  cpu::CpuDevice device(options());
  auto const seen = observe(device, event_waits());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  for (std::string const way : {"polling", "waiting", "asleep"}) {
    auto const wait = std::ranges::find_if(seen.intervals, [&](Interval const& one) { return one.row == way; });
    ASSERT_NE(wait, seen.intervals.end());
    double const cpu_time = figure(seen, way + ", CPU time").value;
    EXPECT_GT(cpu_time, 0) << way;
    EXPECT_LE(cpu_time, milliseconds(wait->length())) << way;
  }
}

TEST_F(AModel, OfAnA100HasTheFiguresOfTheTextBesideThoseThatItReaches) {
  auto const model = built_in_model("a100").value();
  double const reached = 440.5 * 312 / model.kernels.tensor_tera_flops;
  auto const seen = observe_until_near(model, matrix_product_time(), {{"4096 x 4096", reached}});
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  Figure const product = figure(seen, "4096 x 4096"), meet = figure(seen, "the two meet at");
  EXPECT_NEAR(product.text.value(), 440, 1);
  EXPECT_EQ(product.beside.front().second, "441 us");
  EXPECT_NEAR(meet.text.value(), 156, 0.1);
  EXPECT_EQ(meet.beside.front().second, "153 flop/byte");
}

TEST_F(AModel, WithTwoNodesCopiesMemoryOfTheFarOneMoreSlowly) {
  auto const model = built_in_model("p100").value();
  auto const seen = observe_until_near(model, numa(),
                                       {{"memory of node 0, up", model.link.up},
                                        {"memory of node 0, down", model.link.down},
                                        {"memory of node 1, up", model.link.far},
                                        {"memory of node 1, down", model.link.far_down}});
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
}

TEST_F(AModel, WithAFastLinkCopiesMoreSlowlyBesideKernelsThatMemoryBounds) {
  auto const model = built_in_model("gh200").value();
  // A copy of 4 MiB, with what a copy of no bytes takes.
  double const alone = 4.194304e6 / (4.194304e6 / model.link.up + 1e3 * model.link.copy.count());
  double const part = model.kernels.memory / (model.kernels.memory + model.link.up);
  double const kernel = 134'217.728 / model.kernels.memory;
  auto const seen = observe_until_near(model, copy_beside_kernel(),
                                       {{"copies alone", alone},
                                        {"beside kernels that memory bounds", part * alone},
                                        {"beside kernels that arithmetic bounds", alone},
                                        {"a kernel that memory bounds, alone", kernel + model.kernels.start.count()},
                                        {"beside another one", 2 * (kernel + model.kernels.start.count())}});
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
}

TEST_F(AModel, NeedsLessForABarrierThanForALaunch) {
  auto const model = built_in_model("h200").value();
  auto const seen = observe_until_near(model, grid_barrier(),
                                       {{"of that, a barrier and its round alone", model.kernels.barrier.count()}});
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_GE(figure(seen, "64 launches, a round").value, model.kernels.start.count());
  EXPECT_NE(seen.verdict.fact.find("a kernel of another stream waited"), std::string::npos) << seen.verdict.fact;
}

/// Calls of two streams cost 6 us more than those of one, so halves gain from a kernel of 15 us on.
TEST_F(AModel, IsFasterWithASmallBatchAsAWholeAndWithALargeOneInHalves) {
  cpu::CpuDevice device(options());
  Workbench bench(device);
  auto const pays_from = [](Observation const& seen) {
    auto const& last = seen.figures.back();
    return last.what == "halves are faster from a kernel of" ? last.value : 0;
  };
  auto const as_the_model = [&](Observation const& seen) {
    return seen.verdict.as_expected && pays_from(seen) >= 10 && pays_from(seen) <= 30;
  };
  auto seen = halves_of_small_batches(bench);
  // Threads of a busy machine are late now and then.
  for (int tries = 0; tries < 20 && !as_the_model(seen); ++tries) seen = halves_of_small_batches(bench);
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_GE(pays_from(seen), 10);
  EXPECT_LE(pays_from(seen), 30);
  EXPECT_EQ(seen.figures.back().text, 50);
}

TEST_F(AModel, WithOneStreamIsSeenToSaveNothing) {
  WrongDevice device({.one_stream = true}, options());
  for (auto const& experiment : {streams(), progression()}) {
    Workbench bench(device);
    auto const verdict = experiment.run(bench).verdict;
    EXPECT_FALSE(verdict.as_expected) << verdict.fact;
    EXPECT_FALSE(verdict.disproved) << verdict.fact;
  }
}

TEST_F(AModel, WithOneEngineInOrderOfIssueCanSaveNothingDepthFirst) {
  cpu::CpuDevice device(options(one_engine()));
  auto const seen = observe(device, streams());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_GE(figure(seen, "4 streams").possible.value(), 0.9 * figure(seen, "1 stream").possible.value());
  EXPECT_EQ(figure(seen, "all copies up").beside.front().second, "copies of both ways");
}

TEST_F(AModel, WithTwoEnginesFindsNoOrderOfIssueFaster) {
  cpu::CpuDevice device(options());
  auto const seen = observe(device, issue_order());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_NE(seen.verdict.fact.find("neither order was faster"), std::string::npos) << seen.verdict.fact;
}

TEST_F(AModel, ThatEndsKernelsTogetherIsFasterStreamByStream) {
  cpu::CpuDevice device(options(built_in_model("c2050").value()));
  auto const seen = observe(device, issue_order());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_NE(seen.verdict.fact.find("depth first was faster"), std::string::npos) << seen.verdict.fact;
  EXPECT_NE(seen.verdict.fact.find("end together"), std::string::npos) << seen.verdict.fact;
}

TEST_F(AModel, WithOneEngineInOrderOfIssueIsFasterStepByStep) {
  cpu::CpuDevice device(options(one_engine()));
  auto const seen = observe(device, issue_order());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_NE(seen.verdict.fact.find("breadth first was faster"), std::string::npos) << seen.verdict.fact;
}

TEST_F(AModel, WithOneEngineThatTakesWhatIsReadyFindsNoOrderOfIssueFaster) {
  auto model = one_engine();
  model.copies_in_order_of_issue = false;
  cpu::CpuDevice device(options(model));
  auto const seen = observe(device, issue_order());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_NE(seen.verdict.fact.find("neither order was faster"), std::string::npos) << seen.verdict.fact;
}

}  // namespace
}  // namespace penstock::lab
