// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/run_figures.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/number_text.hpp"
#include "observe/verdict/advice.hpp"
#include "observe/verdict/find_bound.hpp"
#include "observe/verdict/limits.hpp"
#include "observe/verdict/overlap.hpp"
#include "observe/verdict/passages.hpp"
#include "observe/verdict/utilisation.hpp"

namespace penstock {
namespace {

std::string one_decimal(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", number);
  return text;
}

/// Text to append to a sentence on a part: ", 96 % of the 48.6 GB/s that they reach alone".
std::string against_ceiling(PartUse const& part, Utilisation const& use, std::string const& lead) {
  if (!part.ceiling) return "";
  return lead + percent_text(use.rate / *part.ceiling) + " of the " + rate_text(*part.ceiling * use.payload) +
         " that they reach alone";
}

std::string on_part(PartUse const& part, RunFigures const& figures, Utilisation const& use) {
  std::string const time = percent_text(part.time.value_or(0));
  bool const timed = part.time && *part.time > 0;
  switch (part.part) {
    case Bound::fill:
      return count_text(figures.producers, "producer") + " spent " + time + " of the time in the source" +
             (figures.producers > 1 ? ", all together." : ".");
    case Bound::sink:
      return "The sink was busy " + time + " of the time, " +
             seconds_text(figures.sink / static_cast<double>(figures.tiles)) + " a tile.";
    case Bound::completion:
      return count_text(figures.lanes, "lane") + ": busy " + time + " of the time, mostly with taking tiles back.";
    case Bound::submission:
      if (!timed) break;
      return count_text(figures.lanes, "lane") + ": busy " + time + " of the time with giving work to the device, " +
             seconds_text(part.share * figures.wall * figures.lanes / static_cast<double>(figures.tiles)) + " a tile.";
    default:
      break;
  }
  std::string text = part_text(part.part);
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  if (!timed) return text + against_ceiling(part, use, " came to ") + ".";
  return text + " took " + time + " of the time" + against_ceiling(part, use, ", and came to ") + ".";
}

std::string on_the_rest(PartUse const* busiest, Utilisation const& use) {
  std::string text = "Nothing is known of anything else";
  if (busiest != nullptr) {
    text = "Next in use: " + part_text(busiest->part) + ", " + percent_text(busiest->share) + " of what is possible";
  }
  if (use.producers) text += "; producers waited for tiles " + percent_text(use.producers->borrowing) + " of the time";
  return text + '.';
}

std::string on_room(Room room, RunFigures const& figures) {
  std::string const slots = count_text(slots_of_all(figures), "slot");
  if (room == Room::run)
    return "The run had " + count_text(figures.tiles, "tile") + " for " + slots +
           ": too short to be judged. A longer run, or smaller tiles, has more of them.";
  if (room == Room::pool) {
    return "There are " + count_text(figures.pool, "tile") + " for " + slots + " and " +
           count_text(figures.producers, "producer") + ".";
  }
  if (figures.producers == 0 && figures.borrow_wait > 0) {
    return "Threads that feed waited for a tile " + percent_text(figures.borrow_wait / figures.wall) +
           " of the time, all together, with " + count_text(figures.pool, "tile") + " for " + slots + ".";
  }
  if (!figures.in_flight) return "All " + count_text(figures.pool, "tile") + " were on their way, for " + slots + ".";
  return one_decimal(*figures.in_flight) + " of " + slots + " were in use on average.";
}

std::string in_shared_stream(RunFigures const& figures) {
  std::string text = count_text(figures.lanes, "lane");
  bool const all = figures.shares == SharedStream::all;
  text += all ? " did all in the one legacy default stream" : " computed in the one legacy default stream";
  if (auto const busy = shared_stream_busy(figures)) text += ", which had work " + percent_text(*busy) + " of the time";
  return text + (all ? ": nothing overlaps" : "");
}

std::string on_turns(Turns turns, RunFigures const& figures, Utilisation const& use) {
  std::string overlap;
  if (figures.overlap && figures.overlap->overlap) {
    overlap = ", the device was busy " +
              percent_text(static_cast<double>(figures.overlap->busy.count()) /
                           static_cast<double>(figures.overlap->window.count())) +
              " of the time, and overlap was " + percent_text(*figures.overlap->overlap);
  }
  PartUse const* const kernel = use.find(Bound::kernel);
  std::string const at_once = kernel != nullptr && kernel->ceiling
                                  ? "; kernels alone come to " + rate_text(*kernel->ceiling * use.payload)
                                  : "";
  switch (turns) {
    case Turns::legacy_stream:
      return in_shared_stream(figures) + at_once + ".";
    case Turns::single_stream:
      return "One lane did all in one stream" + overlap + ".";
    case Turns::one_lane:
      return "One lane ran one kernel after the other" + overlap + at_once + ".";
    case Turns::barrier:
      return "Lanes spent " + percent_text(use.find(Bound::submission)->share) + " of the time in submission, with " +
             one_decimal(figures.in_flight.value_or(0)) + " of " + count_text(slots_of_all(figures), "slot") +
             " in use.";
    default:
      return "One thing was done after the other" + overlap + ".";
  }
}

/// Text to append to the process's own share: ", other processes 5 %". Both are at most 100 % together, as printed.
std::string of_other_processes(Utilisation::Cpus const& cpus) {
  double const rest = 1 - std::round(100 * std::min(cpus.own, 1.0)) / 100;
  double const others = std::min(cpus.others, rest);
  return others < 0.005 ? "" : ", other processes " + percent_text(others);
}

/// Evidence that this was the bottleneck: a sentence on it, and one on everything else.
std::vector<std::string> evidence_for(Finding const& finding, RunFigures const& figures, Utilisation const& use) {
  PartUse const* const part = use.find(finding.bound);
  if (part != nullptr) return {on_part(*part, figures, use), on_the_rest(use.busiest({finding.bound}), use)};
  switch (finding.bound) {
    case Bound::too_few_tiles:
      if (finding.room == Room::run) return {on_room(finding.room, figures)};
      return {on_room(finding.room, figures), on_the_rest(use.busiest(), use)};
    case Bound::serialising_stream:
      return {on_turns(finding.turns, figures, use), on_the_rest(use.busiest(), use)};
    case Bound::cpus: {
      Utilisation::Cpus const cpus = use.cpus.value();
      return {count_text(figures.cpus, "CPU") + " had nothing left: this process used " +
                  percent_text(std::min(cpus.own, 1.0)) + " of their time" + of_other_processes(cpus) + ".",
              on_the_rest(use.busiest(), use)};
    }
    case Bound::completion: {
      double const tiles = static_cast<double>(figures.tiles);
      return {"Of " + seconds_text(*figures.in_flight * figures.wall / tiles) + " in flight a tile was done for " +
                  seconds_text(*figures.notice / tiles) + " before its lane heard of it.",
              on_the_rest(use.busiest(), use)};
    }
    case Bound::source_waits:
      if (!use.producers)
        return {"The application pushed no more than this, and tiles were home: its threads waited for one " +
                    percent_text(figures.borrow_wait / figures.wall) + " of the time, all together.",
                on_the_rest(use.busiest(), use)};
      return {"Producers waited for their turn in the source " + percent_text(use.producers->waiting) + " of the time.",
              on_the_rest(use.busiest(), use)};
    default:
      return {"No tile went through, or no time was measured."};
  }
}

std::optional<Ceiling> in_bytes(std::optional<Limit> const& limit, Utilisation const& use) {
  if (!limit) return std::nullopt;
  return Ceiling{limit->tiles_per_second * use.payload, limit->of};
}

}  // namespace

void add_recording(RunFigures& figures, Recording const& recording) {
  Overlap const seen = overlap_of(recording, figures.shares);
  if (seen.busy.count() > 0 && recording.every == 1) figures.overlap = seen;
  figures.device_times = device_times(recording, figures.shares);
  double const in_flight = mean_in_flight(recording);
  if (in_flight > 0) figures.in_flight = in_flight;
  if (recording.missed != 0) return;
  if (figures.shares == SharedStream::none)
    figures.meanwhile = std::chrono::duration<double>(at_work_meanwhile(recording)).count();
  for (StepTimes const& times : step_times(recording)) {
    double const seconds = std::chrono::duration<double>(times.total).count() * static_cast<double>(recording.every);
    if (times.step == Step::enqueue) figures.enqueue = seconds;
    if (times.step == Step::notice) figures.notice = seconds;
  }
}

Verdict judge(RunFigures const& figures, Ceilings const& ceilings) {
  Verdict verdict;
  if (!figures.late.empty()) {
    verdict.evidence = {"Nothing is judged. " + figures.late};
    return verdict;
  }
  verdict.device_times = figures.device_times;
  bool const ran = figures.wall > 0 && figures.tiles > 0;
  Utilisation const use = ran ? utilisation_of(figures, ceilings) : Utilisation{};
  if (use.parts.empty() && !(figures.borrow_wait > 0)) {
    verdict.evidence = evidence_for({}, figures, use);
    return verdict;
  }
  Finding const finding = find_bound(figures, use);
  bool const moved = figures.bytes_up > 0 || figures.bytes_down > 0;
  if (finding.room == Room::run && !moved) {
    verdict.evidence = {"There was nothing to read: no tile had bytes."};
    return verdict;
  }
  verdict.bound = finding.bound;
  verdict.evidence = evidence_for(finding, figures, use);
  verdict.bytes_per_second = use.rate * use.payload;
  if (finding.room == Room::run) return verdict;
  verdict.ceiling = in_bytes(own_limit(finding, use), use);
  verdict.next = in_bytes(next_limit(finding, use), use);
  verdict.streams_will_not_help = why_no_streams(finding, figures, ceilings, use);
  if (!use.cpus || !use.cpus->may_be_contended()) {
    verdict.advice = advice_for(finding, figures, ceilings, use);
    return verdict;
  }
  verdict.no_advice = use.cpus->contended()
                          ? "Nothing is advised, because other processes used " +
                                percent_text(std::min(use.cpus->others, 1.0)) + " of the CPUs and left " +
                                percent_text(use.cpus->left()) + ": on a quiet machine the bound may be another."
                          : "Nothing is advised, because the run was too short to tell whether other processes "
                            "used the CPUs: give it more input.";
  bool const of_device = finding.bound == Bound::upload || finding.bound == Bound::download ||
                         finding.bound == Bound::kernel || finding.turns == Turns::barrier;
  if (!of_device && use.cpus->contended()) verdict.streams_will_not_help.reset();
  return verdict;
}

bool too_short_to_judge(RunFigures const& figures, Ceilings const& ceilings) {
  if (!figures.late.empty() || figures.wall <= 0 || figures.tiles == 0) return false;
  if (figures.bytes_up <= 0 && figures.bytes_down <= 0) return false;
  Utilisation const use = utilisation_of(figures, ceilings);
  if (find_bound(figures, use).room == Room::run) return true;
  return use.cpus && use.cpus->may_be_contended() && !use.cpus->contended();
}

}  // namespace penstock
