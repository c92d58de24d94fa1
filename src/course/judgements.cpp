// SPDX-License-Identifier: Apache-2.0
#include "course/judgements.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "engine/core/number_text.hpp"

namespace penstock::lab {

Verdict verdict_on_clocks(ClocksSeen const& seen) {
  Verdict const launch{!seen.over, "the launch returned after " + time_text(seen.launch) + ", " +
                                       (seen.over ? "when the kernel was over" : "before the kernel was over")};
  Verdict const behind{2 * seen.behind > 3 * seen.events,
                       "behind an earlier kernel, launch and synchronize took the host " + time_text(seen.behind) +
                           " for a kernel that took " + time_text(seen.events) + " by events"};
  return both(launch, behind);
}

Verdict verdict_on_elapsed(ElapsedSeen const& seen) {
  Verdict const early{seen.early == 0, seen.early == 0 ? "before the kernel could begin since() had no number"
                                                       : "since() had a number before the kernel could begin"};
  Verdict const late{seen.late && seen.late->count() > 0,
                     seen.late ? "behind it " + time_text(*seen.late) : "behind it none either"};
  Verdict const refused{seen.refused, seen.refused ? "events that keep no time were refused"
                                                   : "events that keep no time were not refused"};
  return both(both(early, late), refused);
}

EventSteps steps_of(std::vector<std::chrono::nanoseconds> times, std::chrono::nanoseconds alike) {
  std::ranges::sort(times);
  EventSteps steps;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i].count() < 0) steps.negative = true;
    if (!steps.shortest && times[i] >= alike) steps.shortest = times[i];
    if (i == 0 || times[i] - times[i - 1] < alike) continue;
    auto const step = times[i] - times[i - 1];
    steps.step = steps.step ? std::min(*steps.step, step) : step;
  }
  return steps;
}

Verdict verdict_on_event_steps(EventSteps const& seen) {
  if (seen.negative) return {false, "a time between events was below 0"};
  if (!seen.shortest || !seen.step) return {false, "all times between events were the same"};
  constexpr std::chrono::nanoseconds most{1000};
  auto const told = [](std::chrono::nanoseconds time) {
    return seconds_text(std::chrono::duration<double>(time).count());
  };
  return {*seen.step <= most, "the shortest time between two events that is not 0 was " + told(*seen.shortest) +
                                  ", and times differed by steps of " + told(*seen.step) + " at least"};
}

std::string Reach::text() const {
  std::string text;
  auto const add = [&](bool there, char const* name) {
    if (there) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(a, "A");
  add(event, "the event");
  add(b, "B");
  return text.empty() ? "nothing" : text;
}

Verdict verdict_on_waits(std::span<WaitSeen const> seen) {
  auto const judged = [](std::string const& what, Reach const& expected, Reach const& was) {
    Verdict const verdict{was == expected,
                          what + " when this was over: " + was.text() + "; it should be " + expected.text()};
    return was.covers(expected) ? verdict : certainly(verdict);
  };
  for (WaitSeen const& one : seen) {
    Verdict returns = judged(one.way + " returned", one.returns_behind, one.at_return);
    if (!returns.as_expected) return returns;
    Verdict goes_on = judged("behind " + one.way + " stream A went on", one.goes_on_behind, one.at_going_on);
    if (!goes_on.as_expected) return goes_on;
  }
  return {true, "each of the " + std::to_string(seen.size()) +
                    " calls kept the host, and stream A, for what it names and no longer"};
}

namespace {

std::string told(RaceResults const& results, RaceSeen const& seen) {
  if (results.wrong == 0) return "all " + std::to_string(seen.all) + " results were right";
  char values[64];
  std::snprintf(values, sizeof values, "wrong, %g instead of %g", results.seen, seen.right);
  return std::to_string(results.wrong) + " of " + std::to_string(seen.all) + " results were " + values;
}

Verdict all_right(std::size_t wrong, std::size_t all) {
  return {wrong == 0, wrong == 0 ? "all " + std::to_string(all) + " results were right"
                                 : std::to_string(wrong) + " of " + std::to_string(all) + " results were wrong"};
}

/// A rate of floating-point operations in a second.
std::string flops_text(double flops) {
  char text[32];
  std::snprintf(text, sizeof text, flops < 1e12 ? "%.3g GFLOP/s" : "%.3g TFLOP/s", flops / (flops < 1e12 ? 1e9 : 1e12));
  return text;
}

}  // namespace

Verdict verdict_on_race(RaceSeen const& seen) {
  return both({seen.without.wrong > 0, "without the event " + told(seen.without, seen)},
              {seen.with.wrong == 0, "with it " + told(seen.with, seen)});
}

Verdict verdict_on_ordered_memory(OrderedMemorySeen const& seen) {
  Verdict const loop{!seen.over, "in the order of a stream the loop took " + time_text(seen.loop) +
                                     (seen.over ? ", when the stream was through" : ", before the stream went on") +
                                     ", and with memory of the device it waited " + time_text(seen.waits)};
  Verdict const results = all_right(seen.wrong, seen.all);
  return both(loop, results);
}

Verdict verdict_on_late_error(LateErrorSeen const& seen) {
  if (seen.by.empty()) return {false, "no call said that a kernel had failed"};
  Verdict const call{seen.by == (seen.blocking ? "launch 2" : "synchronize"),
                     "the first call that said it was " + seen.by};
  Verdict const text{seen.lost && seen.names_cause,
                     std::string(seen.lost ? "the device is lost" : "the device is not lost") +
                         (seen.names_cause ? ", and it said why" : ", and it did not say why")};
  Verdict const waits{
      seen.by_with_waits == "launch 2",
      "with a wait behind each call it was " + (seen.by_with_waits.empty() ? std::string("none") : seen.by_with_waits)};
  return both(both(call, waits), text);
}

Verdict verdict_on_blocking(BlockingSeen const& seen) {
  constexpr unsigned all = 2;
  std::string const fact = std::string(seen.wanted ? "with" : "without") + " CUDA_LAUNCH_BLOCKING=1 " +
                           std::to_string(seen.over) + " of 2 kernels were over when their launch returned, and they " +
                           (seen.together ? "ran at once" : "did not run at once");
  if (seen.wanted) return certainly({seen.over == all && !seen.together, fact});
  return {seen.over == 0 && seen.together, fact};
}

Verdict verdict_on_no_help(penstock::Verdict const& seen, NoStreams expected) {
  std::string const bound = "the bound is \"" + std::string(bound_name(seen.bound)) + "\"";
  if (!seen.streams_will_not_help) return {false, bound + ", and the verdict says nothing of streams"};
  std::string said = seen.streams_will_not_help->sentence;
  if (said.ends_with('.')) said.pop_back();
  return {seen.streams_will_not_help->reason == expected, bound + "; \"" + said + "\""};
}

Verdict verdict_on_nodes(std::span<NodeCopies const> seen) {
  constexpr double stray = 1.1;
  bool as_expected = true;
  std::string fact;
  for (NodeCopies const& one : seen) {
    for (NodeCopies const& other : seen) {
      bool const nearer = one.near.value_or(false) && !other.near.value_or(true);
      as_expected = as_expected && !(nearer && (other.up > stray * one.up || other.down > stray * one.down));
    }
    fact += (fact.empty() ? "memory of node " : "; of node ") + std::to_string(one.node);
    if (one.near) fact += *one.near ? " (near)" : " (far)";
    fact += " went up at " + rate_text(one.up) + " and down at " + rate_text(one.down);
  }
  bool const known = std::ranges::any_of(seen, [](NodeCopies const& one) { return one.near.has_value(); });
  return {as_expected, known ? fact : fact + "; on which node the device is, is not known"};
}

Verdict verdict_on_copies_beside(CopiesBesideSeen const& seen) {
  if (!seen.beside) return {false, "copies did not run beside kernels"};
  auto const told = [&](double rate) { return rate_text(rate) + ", " + percent_text(rate / seen.alone) + " of alone"; };
  return {true, "beside kernels that memory bounds, copies came to " + told(seen.by_memory) +
                    ", and beside kernels that arithmetic bounds to " + told(seen.by_arithmetic)};
}

Roofline roofline_of(std::span<RooflinePoint const> points, double bytes) {
  auto const seconds = [](RooflinePoint const& point) { return std::chrono::duration<double>(point.time).count(); };
  auto const flops = [&](RooflinePoint const& point) { return point.flops_per_byte * bytes / seconds(point); };
  Roofline seen{.memory = bytes / seconds(points.front()), .arithmetic = flops(points.back())};
  auto const first_slower = std::ranges::find_if(
      points, [&](RooflinePoint const& point) { return seconds(point) > 1.25 * seconds(points.front()); });
  auto const last_weaker = std::find_if(
      points.rbegin(), points.rend(), [&](RooflinePoint const& point) { return flops(point) < 0.8 * seen.arithmetic; });
  seen.memory_bound = static_cast<std::size_t>(first_slower - points.begin());
  seen.arithmetic_bound = static_cast<std::size_t>(last_weaker - points.rbegin());
  return seen;
}

Verdict verdict_on_roofline(std::span<RooflinePoint const> points, double bytes, std::size_t wrong, bool timed) {
  auto const seen = roofline_of(points, bytes);
  auto const number = [](double value, char const* unit) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g%s", value, unit);
    return std::string(text);
  };
  std::string const fact = "memory bounds up to " + number(points[seen.memory_bound - 1].flops_per_byte, "") +
                           " operations a byte, at " + rate_text(seen.memory) + ", and arithmetic from " +
                           number(points[points.size() - seen.arithmetic_bound].flops_per_byte, "") + " on, at " +
                           flops_text(seen.arithmetic) + "; the two meet at " + number(seen.meet(), "");
  bool const longer = points.back().time >= 2 * points.front().time;
  bool const both_bound = seen.memory_bound >= 2 && seen.arithmetic_bound >= 2;
  Verdict const results{wrong == 0,
                        wrong == 0 ? "all results were right" : std::to_string(wrong) + " results were wrong"};
  return both({longer && (both_bound || !timed), fact}, results);
}

Verdict verdict_on_products(std::span<ProductSeen const> products, bool timed) {
  auto const times_as_long = [](std::chrono::nanoseconds time, std::chrono::nanoseconds as) {
    return static_cast<double>(time.count()) / static_cast<double>(std::max<std::int64_t>(1, as.count()));
  };
  auto const ratio = [&](ProductSeen const& seen) { return times_as_long(seen.measured, seen.possible); };
  ProductSeen const& last = products.back();
  bool exact = true, possible = ratio(last) <= ratio(products.front());
  double greatest = 0;
  for (ProductSeen const& seen : products) {
    constexpr double of_a_product = 0x1p-20;
    exact = exact && seen.greatest_error <= of_a_product * seen.depth;
    greatest = std::max(greatest, seen.greatest_error);
    constexpr double stray = 0.9;
    possible = possible && ratio(seen) >= stray &&
               times_as_long(seen.measured, seen.predicted.value_or(seen.measured)) >= stray;
  }
  char text[96];
  std::snprintf(text, sizeof text, ", %.2f times as long as %s, and came to ",
                last.predicted ? times_as_long(last.measured, *last.predicted) : ratio(last),
                last.predicted ? "the data sheet predicts" : "is possible");
  double const seconds = std::chrono::duration<double>(last.measured).count();
  Verdict const times{possible || !timed,
                      last.name + " took " + time_text(last.measured) + text + flops_text(last.flops / seconds)};
  std::snprintf(text, sizeof text, "the greatest error was %.2g", greatest);
  return both(times, {exact, text});
}

Verdict verdict_on_grid_barrier(GridBarrierSeen const& seen) {
  auto judged = both(
      all_right(seen.wrong, seen.all),
      {seen.refused, "a round took " + time_text(seen.by_launches) + " by launches and " + time_text(seen.by_barriers) +
                         " by barriers; more blocks than fit were " + (seen.refused ? "refused" : "not refused")});
  if (!seen.other_waited) return judged;
  return both(judged, {*seen.other_waited, std::string("a kernel of another stream ") +
                                               (*seen.other_waited ? "waited until the one with barriers had ended"
                                                                   : "ran beside the one with barriers")});
}

}  // namespace penstock::lab
