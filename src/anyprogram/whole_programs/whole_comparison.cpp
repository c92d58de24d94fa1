// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/whole_comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/core/number_text.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/meter.hpp"

namespace penstock::cli {
namespace {

/// A smaller effect is no difference, however steady it is: times of processes change by as much from hour to hour.
constexpr double least_difference = 0.02;
/// A single outlier does not matter with as many rounds.
constexpr std::size_t many_rounds = 5;

/// The uncertainty of the median of these values: in 99 of 100 cases its error is less. Empty for fewer than three.
std::optional<double> uncertainty_of(std::vector<double> const& values) {
  std::size_t const count = values.size();
  if (count < 3) return std::nullopt;
  // Student's t for 99 %, both sides, by degrees of freedom from 2 on.
  constexpr std::array t{9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17};
  // These are standard deviations of normal noise: the range of 3 and of 4 values, and the median distance from the
  // median.
  constexpr std::array range{1.69, 2.06};
  constexpr double distance = 1 / 1.4826, of_a_median = 1.2533;
  measure::Spread const spread = measure::spread_of(values);
  double deviation = (spread.most - spread.least) / range[std::min<std::size_t>(count, 4) - 3];
  if (count >= many_rounds) {
    std::vector<double> distances;
    for (double const value : values) distances.push_back(std::abs(value - spread.median));
    deviation = measure::spread_of(distances).median / distance;
  }
  return t[std::min(count - 3, t.size() - 1)] * of_a_median * deviation / std::sqrt(static_cast<double>(count));
}

/// True if all of one are below all of the other, by at least as much as either varies. Two sets of three values with
/// the same normal noise are so in 0.8 % of cases, and larger sets in fewer.
bool far_apart(measure::Spread const& one, measure::Spread const& other) {
  double const gap = std::max(one.least - other.most, other.least - one.most);
  return gap > 0 && gap >= std::max(one.most - one.least, other.most - other.least);
}

constexpr std::size_t exit_part = 0, output_part = 1, first_result = 2;

std::string end_text(ProgramEnd const& end) {
  if (end.signal == 0) return "exit code " + std::to_string(end.code);
  char const* const name = sigabbrev_np(end.signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(end.signal);
}

std::string difference_of(ResultSum const& one, ResultSum const& other) {
  if (one.files == other.files && one.bytes == other.bytes && one.sum == other.sum) return "";
  auto const text = [](ResultSum const& of) {
    return of.files == 0 ? std::string("nothing") : std::to_string(of.bytes) + " bytes";
  };
  return one.bytes == other.bytes && one.files == other.files ? "other bytes" : text(one) + " and " + text(other);
}

std::string joined(std::vector<std::string> const& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

}  // namespace

std::string last_words(ProgramEnd const& end) {
  std::string_view text = end.complaint.begin();
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::size_t const begin = text.rfind('\n');
  if (begin != std::string_view::npos) text.remove_prefix(begin + 1);
  std::string const ended = (end.signal == 0 ? "It ended with " : "It was ended by ") + end_text(end) + ".";
  return text.empty() ? ended : ended + " It said: " + shown_line(text);
}

WholeComparison::WholeComparison(std::string baseline, std::string candidate, std::vector<std::string> const& results,
                                 LinePatterns ignored)
    : sides_{Side{std::move(baseline), {}, {}, {}, 0}, Side{std::move(candidate), {}, {}, {}, 0}},
      ignored_(std::move(ignored)) {
  for (std::string const& name : {std::string("the exit code"), std::string("standard output")})
    parts_.push_back({.name = name, .strays = "", .differs = ""});
  for (std::string const& path : results)
    parts_.push_back({.name = "the result " + path, .strays = "", .differs = "", .there = false, .written = false});
}

void WholeComparison::add(Contender contender, WholeRun const& run, bool timed) {
  Side& side = sides_[index(contender)];
  ++side.runs;
  if (run.end.overtime) {
    failure_ =
        "It cannot be compared. It did not end in its time, " + side.name + ": raise --within, or give it less to do.";
  } else if (run.end.signal != 0) {
    // The baseline ended by itself, so a candidate that a signal ends is not right.
    breaks_ = contender == Contender::candidate && sides_[index(Contender::baseline)].runs > 0;
    failure_ = breaks_ ? "It is not right " + side.name + ". " + last_words(run.end)
                       : "It cannot be compared. " + last_words(run.end) + " (This run was " + side.name + ".)";
  }
  if (!failure_.empty()) return;
  compare(contender, run);
  if (!timed) return;
  side.wall.push_back(std::chrono::duration<double>(run.end.wall).count());
  side.cpu.push_back(std::chrono::duration<double>(run.end.cpu).count());
}

void WholeComparison::note(std::size_t part, Contender contender, std::string const& difference) {
  std::string& kept = contender == Contender::baseline ? parts_[part].strays : parts_[part].differs;
  if (kept.empty()) kept = difference;
}

/// A difference of the candidate may not count once more runs of the baseline have been seen.
void WholeComparison::compare_output(Contender contender, Heard const& output) {
  if (!printed_) printed_.emplace(output, ignored_);
  constexpr std::size_t most_others = 8;
  if (contender == Contender::baseline) {
    note(output_part, contender, printed_->widen(output));
  } else if (others_.size() < most_others) {
    others_.push_back(output);
  } else {
    note(output_part, contender, printed_->compare(output));
    return;
  }
  std::string& differs = parts_[output_part].differs;
  differs.clear();
  std::erase_if(others_, [&](Heard const& other) {
    std::string const difference = printed_->compare(other);
    if (differs.empty()) differs = difference;
    return difference.empty();
  });
}

void WholeComparison::compare(Contender contender, WholeRun const& run) {
  if (!first_) first_ = run;
  ProgramEnd const& first = first_->end;
  if (first.code != run.end.code) note(exit_part, contender, end_text(first) + " and " + end_text(run.end));
  compare_output(contender, run.end.output);
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    ResultSum const &result = run.results[i], &first_one = first_->results[i];
    std::string difference = difference_of(first_one, result);
    if (difference.empty() && result.written != first_one.written) difference = "a run that did not write it";
    note(first_result + i, contender, difference);
    Part& part = parts_[first_result + i];
    part.there = part.there || result.files > 0;
    part.written = part.written || result.written;
  }
}

std::size_t WholeComparison::rounds() const {
  return std::min(sides_[0].wall.size(), sides_[1].wall.size());
}

std::vector<double> WholeComparison::ratios() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < rounds(); ++i) all.push_back(sides_[0].wall[i] / sides_[1].wall[i]);
  return all;
}

Effect WholeComparison::effect() const {
  std::vector<double> distances = ratios();
  for (double& one : distances) one = std::log(one);
  auto const uncertainty = uncertainty_of(distances);
  double const middle = measure::spread_of(distances).median;
  if (!uncertainty || std::abs(middle) <= std::log1p(least_difference)) return Effect::no_difference;
  if (std::abs(middle) <= *uncertainty &&
      !far_apart(measure::spread_of(sides_[0].wall), measure::spread_of(sides_[1].wall)))
    return Effect::no_difference;
  return middle > 0 ? Effect::gains : Effect::loses;
}

std::string WholeComparison::effect_sentence() const {
  measure::Spread const ratio = measure::spread_of(ratios());
  std::string const times = short_number(ratio.median) + " times as fast " + name(Contender::candidate) + " (" +
                            short_number(ratio.least) + " to " + short_number(ratio.most) + " in " +
                            std::to_string(rounds()) + (rounds() == 1 ? " round)." : " rounds).");
  switch (effect()) {
    case Effect::gains:
      return "It gains: it is " + times;
    case Effect::loses:
      return "It loses: it is " + times;
    case Effect::no_difference:
      break;
  }
  return (rounds() < 3 ? "Too few rounds to tell: it is " : "No difference beyond noise: it is ") + times;
}

bool WholeComparison::is_output_doubtful() const {
  return without_cause_ && only_output_differs() && (can_be_none_ || !printed_->stray_line().empty());
}

bool WholeComparison::only_output_differs() const {
  if (!objection_.empty() || breaks_ || !failure_.empty()) return false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    bool const differs = parts_[i].strays.empty() && !parts_[i].differs.empty();
    if (differs != (i == output_part)) return false;
  }
  return true;
}

std::optional<bool> WholeComparison::right() const {
  if (!objection_.empty() || breaks_) return false;
  if (!failure_.empty() || sides_[0].runs == 0 || sides_[1].runs == 0) return std::nullopt;
  if (is_output_doubtful()) return std::nullopt;
  bool told = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part const& part = parts_[i];
    if (!part.strays.empty()) continue;
    if (!part.differs.empty()) return false;
    told = told || (i >= output_part && !(i == output_part && printed_->leaves_nothing()));
  }
  if (!told || !unwritten().empty()) return std::nullopt;
  return true;
}

/// A sentence on results that no run wrote; empty if there are none.
std::string WholeComparison::unwritten() const {
  std::vector<std::string> all;
  for (Part const& part : parts_)
    if (!part.written) all.push_back(part.there ? "no run wrote " + part.name : "no run left a file as " + part.name);
  return joined(all);
}

/// What was not the same in standard output and does not count, in brackets; empty if there is nothing.
std::string WholeComparison::left_out_text() const {
  if (!printed_) return "";
  std::size_t const numbers = printed_->left_out();
  std::vector<std::string> all;
  if (std::size_t const ignored = printed_->ignored(); ignored > 0)
    all.push_back(count_text(ignored, "line") + " that --ignore names");
  if (numbers > 0) all.push_back(count_text(numbers, "number") + ", each a time or a rate, or other from run to run");
  if (std::string const& line = printed_->stray_line(); !line.empty())
    all.push_back("lines that are other from run to run, such as " + line);
  return all.empty() ? "" : " (but for " + joined(all) + ")";
}

std::string WholeComparison::right_sentence() const {
  std::string const not_right = "It is not right " + name(Contender::candidate);
  std::string const remedy =
      ". Name by --result what it writes and what must be the same, or by --ignore the lines that need not be.";
  if (is_output_doubtful())
    return "Whether it is right cannot be told: standard output differs from what it is " + name(Contender::baseline) +
           " (" + parts_[output_part].differs + "), but " +
           (can_be_none_ ? std::string("no call of it means a default stream")
                         : "that differs from run to run, too (" + printed_->stray_line() +
                               "), and nothing that was watched needs the legacy default stream") +
           remedy;
  std::vector<std::string> same, straying;
  for (Part const& part : parts_) {
    if (!part.strays.empty()) {
      straying.push_back(part.name + " (" + part.strays + ")");
    } else if (!part.differs.empty()) {
      return not_right + ": " + part.name + " differs from what it is " + name(Contender::baseline) + " (" +
             part.differs + ")." + (objection_.empty() ? "" : " " + objection_);
    } else if (part.written && !(&part == &parts_[output_part] && printed_ && printed_->leaves_nothing())) {
      same.push_back(part.name + (&part == &parts_[output_part] ? left_out_text() : ""));
    }
  }
  std::string const told = joined(same) + (same.size() == 1 ? " was" : " were") + " the same in all " +
                           std::to_string(sides_[0].runs + sides_[1].runs) + " runs";
  if (!objection_.empty()) return not_right + (same.empty() ? "" : ", though " + told) + ". " + objection_;
  if (std::string const missing = unwritten(); !missing.empty())
    return "Whether it is right cannot be told: " + missing +
           ". Let --result name what the program writes, as it is named from this folder." +
           (same.empty() ? "" : " Otherwise " + told + ".");
  if (straying.empty() && !right())
    return "Whether it is right cannot be told: --ignore names each line of standard output. Otherwise " + told + ".";
  if (straying.empty()) return "It is right: " + told + ".";
  std::string const untold = "not the same from run to run, " + name(Contender::baseline) + ", " +
                             (straying.size() == 1 ? "is " : "are ") + joined(straying);
  if (right()) return "It is right as far as can be told: " + told + "; " + untold + ".";
  return "Whether it is right cannot be told: " + untold + remedy;
}

}  // namespace penstock::cli
