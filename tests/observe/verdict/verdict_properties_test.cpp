// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "observe/verdict/overlap.hpp"
#include "observe/verdict/run_figures.hpp"

namespace penstock {
namespace {

/// Figures and ceilings by chance, some missing: some run could have them.
class AnyRun {
 public:
  explicit AnyRun(unsigned seed) : chance_(seed) {
    figures.wall = 1;
    figures.tiles = 1 + static_cast<std::uint64_t>(between(0, 20'000));
    figures.tile_bytes = between(1'000, 4'000'000);
    if (often()) figures.bytes_up = figures.tile_bytes * between(0, 1);
    if (often()) figures.bytes_down = figures.tile_bytes * between(0, 1);
    figures.producers = count(0, 8);
    figures.lanes = count(1, 8);
    figures.slots = count(1, 8);
    figures.consumers = count(1, 4);
    figures.sinks = rarely() ? figures.consumers : 1;
    figures.pool = count(1, 80);
    figures.cpus = count(0, 32);
    figures.fill = figures.producers * between(0, 1);
    figures.borrow_wait = figures.producers * between(0, 1);
    figures.sink = figures.sinks * between(0, 1);
    if (often()) figures.enqueue = figures.lanes * between(0, 1);
    if (often()) figures.lane_idle = figures.lanes * between(0, 1);
    if (rarely()) figures.notice = figures.lanes * between(0, 8);
    if (rarely()) figures.cpu_time = between(0, 16);
    if (often()) figures.in_flight = figures.lanes * figures.slots * between(0, 1);
    if (rarely()) figures.shares = rarely() ? SharedStream::stage : SharedStream::all;
    figures.single_stream = rarely();
    figures.gpu = rarely();
    figures.copies_in_vain = rarely();
    figures.cpu_of_others = rarely() ? figures.cpus * between(0, 1) : 0;
    if (often()) add_overlap();
    double const rate = static_cast<double>(figures.tiles);
    for (auto* ceiling : {&ceilings.upload, &ceilings.download, &ceilings.both, &ceilings.fill, &ceilings.fill_twice,
                          &ceilings.kernel, &ceilings.submission}) {
      if (rarely()) *ceiling = rate * between(0.5, 8);
    }
    if (rarely()) ceilings.link_up = rate * figures.tile_bytes * between(0.5, 8);
    if (rarely()) ceilings.link_down = rate * figures.tile_bytes * between(0.5, 8);
  }

  /// Returns the same run as if a second had taken four.
  AnyRun four_times_slower() const {
    AnyRun slow = *this;
    RunFigures& run = slow.figures;
    for (double* time : {&run.wall, &run.borrow_wait, &run.fill, &run.sink}) *time *= 4;
    run.cpu_of_others *= 4;
    for (auto* time : {&run.enqueue, &run.lane_idle, &run.notice, &run.cpu_time}) {
      if (*time) **time *= 4;
    }
    if (run.overlap) {
      Overlap& seen = *run.overlap;
      for (auto* time : {&seen.uploading, &seen.downloading, &seen.computing, &seen.busy, &seen.window, &seen.shared})
        *time *= 4;
    }
    Ceilings& all = slow.ceilings;
    for (auto* ceiling : {&all.upload, &all.download, &all.both, &all.fill, &all.fill_twice, &all.kernel,
                          &all.submission, &all.link_up, &all.link_down}) {
      if (*ceiling) **ceiling /= 4;
    }
    return slow;
  }

  RunFigures figures;
  Ceilings ceilings;

 private:
  double between(double least, double most) { return std::uniform_real_distribution<double>(least, most)(chance_); }
  unsigned count(unsigned least, unsigned most) {
    return std::uniform_int_distribution<unsigned>(least, most)(chance_);
  }
  bool often() { return between(0, 1) < 0.7; }
  bool rarely() { return between(0, 1) < 0.3; }

  void add_overlap() {
    std::vector<Interval> parts[3];
    for (auto& part : parts) {
      for (unsigned k = count(0, 12); k > 0; --k) {
        std::int64_t const begin = count(0, 1000);
        part.push_back({begin, begin + count(0, 120)});
      }
    }
    figures.overlap = overlap_of(Intervals(parts[0]), Intervals(parts[1]), Intervals(parts[2]));
    figures.overlap->shared = figures.overlap->busy;
    if (rarely()) figures.overlap->speed_of_light.reset();
  }

  std::mt19937 chance_;
};

constexpr unsigned runs = 5'000;

TEST(AnyVerdict, PromisesAGainAndNoMoreThanWhatBoundsNextAllows) {
  std::set<Bound> bounds;
  for (unsigned seed = 0; seed < runs; ++seed) {
    AnyRun const run(seed);
    Verdict const verdict = judge(run.figures, run.ceilings);
    bounds.insert(verdict.bound);
    ASSERT_LE(verdict.advice.size(), 2u);
    for (Advice const& advice : verdict.advice) {
      ASSERT_GE(advice.gain, 1.05) << seed;
      ASSERT_FALSE(advice.change.empty() || advice.why.empty()) << seed;
      if (!verdict.next) continue;
      ASSERT_LE(advice.gain * verdict.bytes_per_second, verdict.next->bytes_per_second * (1 + 1e-9)) << seed;
    }
    double const reached = verdict.bytes_per_second * (1 - 1e-9);
    ASSERT_TRUE(!verdict.ceiling || verdict.ceiling->bytes_per_second >= reached) << seed;
  }
  EXPECT_EQ(bounds.size(), 11u) << "every bound is to be met, but that nothing was measured";
}

/// The number behind the option; 0 if the change has none of that name.
double number_behind(std::string const& change, std::string const& option) {
  std::size_t const at = change.find(option + " ");
  return at == std::string::npos ? 0 : std::stod(change.substr(at + option.size() + 1));
}

TEST(AnyVerdict, PromisesNoMoreThanSoManyTimesAsManyThreadsOrPlacesDoAtMost) {
  unsigned checked = 0;
  for (unsigned seed = 0; seed < runs; ++seed) {
    AnyRun const run(seed);
    RunFigures const& figures = run.figures;
    for (Advice const& advice : judge(figures, run.ceilings).advice) {
      for (auto const& [option, now] : {std::pair{"--producers", double(figures.producers)},
                                        {"--lanes", double(figures.lanes)},
                                        {"--consumers", double(figures.sinks)},
                                        {"--slots", double(figures.slots)},
                                        {"--tiles", double(figures.pool)}}) {
        double const then = number_behind(advice.change, option);
        if (then == 0 || advice.change.find(option) != 0) continue;
        ++checked;
        ASSERT_LE(advice.gain, then / now) << seed << advice.change;
      }
    }
  }
  EXPECT_GT(checked, 100u);
}

TEST(AnyVerdict, AdvisesNothingWhereOtherProcessesHaveTheCpusAndSaysWhy) {
  unsigned met = 0;
  for (unsigned seed = 0; seed < runs; ++seed) {
    AnyRun run(seed);
    if (run.figures.cpus == 0 || !run.figures.cpu_time) continue;
    double const all = run.figures.cpus * run.figures.wall;
    if (*run.figures.cpu_time > 0.89 * all) continue;  // Others had less than a tenth.
    run.figures.cpu_of_others = all;
    Verdict const verdict = judge(run.figures, run.ceilings);
    ASSERT_TRUE(verdict.advice.empty()) << describe(verdict);
    if (!verdict.no_advice.empty()) ++met;
  }
  EXPECT_GT(met, 100u);
}

TEST(AnyVerdict, PromisesOptionsNoMoreThanTheCpusThatAreFree) {
  for (unsigned seed = 0; seed < runs; ++seed) {
    AnyRun const run(seed);
    RunFigures const& figures = run.figures;
    if (figures.cpus == 0 || !figures.cpu_time) continue;
    double const left = figures.cpus * figures.wall - figures.cpu_of_others;
    double const most = std::max(1.0, left / *figures.cpu_time);
    for (Advice const& advice : judge(figures, run.ceilings).advice) {
      bool const saves = advice.change.starts_with("--batch") || advice.change.starts_with("--tile ");
      if (!advice.change.starts_with("--") || saves) continue;
      ASSERT_LE(advice.gain, most * (1 + 1e-9)) << seed << describe(judge(figures, run.ceilings));
    }
  }
}

TEST(AnyVerdict, OfALateClockIsNone) {
  for (unsigned seed = 0; seed < runs / 10; ++seed) {
    AnyRun run(seed);
    run.figures.late = "This machine is too slow for its clock.";
    Verdict const verdict = judge(run.figures, run.ceilings);
    ASSERT_EQ(verdict.bound, Bound::nothing_measured);
    ASSERT_FALSE(verdict.ceiling || verdict.next || verdict.streams_will_not_help || verdict.device_times);
    ASSERT_TRUE(verdict.advice.empty());
    ASSERT_EQ(verdict.evidence.at(0), "Nothing is judged. This machine is too slow for its clock.");
  }
}

TEST(AnyVerdict, IsTheSameForARunThatIsSlowerInAllItsParts) {
  for (unsigned seed = 0; seed < runs; ++seed) {
    AnyRun const run(seed), slow = run.four_times_slower();
    Verdict const one = judge(run.figures, run.ceilings), other = judge(slow.figures, slow.ceilings);
    ASSERT_EQ(bound_name(one.bound), bound_name(other.bound)) << seed;
    ASSERT_EQ(one.advice.size(), other.advice.size()) << seed;
    for (std::size_t k = 0; k < one.advice.size(); ++k) {
      ASSERT_EQ(one.advice[k].change, other.advice[k].change) << seed;
      ASSERT_NEAR(one.advice[k].gain, other.advice[k].gain, 1e-6 * one.advice[k].gain) << seed;
    }
  }
}

TEST(AnyVerdict, CallsNoLinkFullThatCarriesLessThanHalfOfWhatLargeCopiesReach) {
  std::set<std::string_view> reasons;
  for (unsigned seed = 0; seed < runs; ++seed) {
    AnyRun const run(seed);
    Verdict const verdict = judge(run.figures, run.ceilings);
    if (!verdict.streams_will_not_help) continue;
    NoStreams const reason = verdict.streams_will_not_help->reason;
    reasons.insert(no_streams_name(reason));
    ASSERT_EQ(verdict.streams_will_not_help->sentence.find("the link ") != std::string::npos,
              reason == NoStreams::link_full)
        << verdict.streams_will_not_help->sentence;
    if (reason != NoStreams::link_full) continue;
    bool const up = verdict.bound == Bound::upload;
    auto const link = up ? run.ceilings.link_up : run.ceilings.link_down;
    double const bytes = up ? run.figures.bytes_up : run.figures.bytes_down;
    ASSERT_GE(static_cast<double>(run.figures.tiles) * bytes, 0.5 * link.value_or(0)) << describe(verdict);
  }
  EXPECT_EQ(reasons.size(), 5u) << "every reason is to be met";
}

TEST(AnyVerdict, IsToldInAtMostSixLinesOfNumbersThatAreSome) {
  for (unsigned seed = 0; seed < runs; ++seed) {
    AnyRun const run(seed);
    Verdict const verdict = judge(run.figures, run.ceilings);
    std::string const text = describe(verdict);
    ASSERT_LE(std::count(text.begin(), text.end(), '\n'), 5) << text;
    ASSERT_GE(verdict.evidence.size(),
              text.find("too short to be judged") != text.npos || verdict.bound == Bound::nothing_measured ? 1u : 2u)
        << text;
    ASSERT_LE(verdict.evidence.size(), 2u) << text;
    for (char const* wrong : {"nan", "inf ", "-1", "e+"}) ASSERT_EQ(text.find(wrong), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace penstock
