// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/judgements.hpp"

#include <cstdio>
#include <string>

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

namespace {

std::string told(RaceResults const& results, RaceSeen const& seen) {
  if (results.wrong == 0) return "all " + std::to_string(seen.all) + " results were right";
  char values[64];
  std::snprintf(values, sizeof values, "wrong, %g instead of %g", results.seen, seen.right);
  return std::to_string(results.wrong) + " of " + std::to_string(seen.all) + " results were " + values;
}

}  // namespace

Verdict verdict_on_race(RaceSeen const& seen) {
  return both({seen.without.wrong > 0, "without the event " + told(seen.without, seen)},
              {seen.with.wrong == 0, "with it " + told(seen.with, seen)});
}

Verdict verdict_on_no_help(penstock::Verdict const& seen, NoStreams expected) {
  std::string const bound = "the bound is \"" + std::string(bound_name(seen.bound)) + "\"";
  if (!seen.streams_will_not_help) return {false, bound + ", and the verdict says nothing of streams"};
  std::string said = seen.streams_will_not_help->sentence;
  if (said.ends_with('.')) said.pop_back();
  return {seen.streams_will_not_help->reason == expected, bound + "; \"" + said + "\""};
}

}  // namespace penstock::lab
