// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "anyprogram/whole_programs/line_patterns.hpp"
#include "anyprogram/whole_programs/printed_output.hpp"
#include "anyprogram/whole_programs/whole_run.hpp"

namespace penstock::cli {

/// The two programs that are compared.
enum class Contender : std::uint8_t { baseline, candidate };

/// Effect that the times of both show.
enum class Effect : std::uint8_t { gains, loses, no_difference };

/// Compares the times of two programs, and their exit codes, outputs and result files.
///
/// Threads: one at a time.
class WholeComparison {
 public:
  /// The names of the two in sentences, like "as it is" and "with per-thread default streams", the paths of the
  /// result files, and the lines of standard output that are not compared.
  WholeComparison(std::string baseline, std::string candidate, std::vector<std::string> const& results,
                  LinePatterns ignored = {});

  /// Adds a run. The time of a run that is not `timed`, a warm-up, does not count.
  ///
  /// Shape: the same number of timed runs of both, in turn; first a run of the baseline.
  void add(Contender contender, WholeRun const& run, bool timed);

  /// Sets the time for which the device was busy in a run of this one that does not count otherwise.
  void set_gpu(Contender contender, double seconds) { sides_[index(contender)].gpu = seconds; }
  /// Takes a sentence on why the candidate is not right, whatever its results.
  void object(std::string sentence) { objection_ = std::move(sentence); }
  /// Says that no cause is known by which the candidate could differ. Then it is no verdict that its output differs
  /// from one that itself differs from run to run; nor from any, if `can_be_none`.
  void without_cause(bool can_be_none) { without_cause_ = true, can_be_none_ = can_be_none; }
  /// True if the candidate is not right for its output alone.
  bool only_output_differs() const;

  std::size_t rounds() const;
  std::vector<double> const& wall(Contender contender) const { return sides_[index(contender)].wall; }  ///< Seconds.
  std::vector<double> const& cpu(Contender contender) const { return sides_[index(contender)].cpu; }    ///< Seconds.
  std::optional<double> gpu(Contender contender) const {
    return sides_[index(contender)].gpu;
  }  ///< Seconds; empty if not known.
  /// Wall time of the baseline divided by wall time of the candidate, by round.
  std::vector<double> ratios() const;
  /// The effect, by the median of the ratios. It is a difference if the distance of the median from 1 is more than 2 %,
  /// and more than its uncertainty: Student's t for 99 % times the standard error of the median. It is also one if all
  /// times of one are below all of the other by at least as much as either varies. With five rounds or more a single
  /// outlier does not matter; with fewer than three the result is always no_difference.
  ///
  /// Shape: after a round.
  Effect effect() const;
  /// The effect in a sentence, with the ratio and the rounds.
  std::string effect_sentence() const;

  /// Sentences on why there is nothing to compare: a signal ended a run, or it took too long. Empty if there was no
  /// such run. If a signal ended only the candidate, they say that it is not right.
  std::string const& failure() const { return failure_; }
  /// True if all runs of both had the same output, as PrintedOutput compares it, and the same results, false if the
  /// candidate's differ from the baseline's or there is an objection. Empty if it cannot be told: the baseline's differ
  /// from run to run, no run wrote a result, one of the two has no complete run, or a run of the baseline failed.
  std::optional<bool> right() const;
  /// The same in a sentence, which names what differs.
  ///
  /// Shape: after a round, without a failure.
  std::string right_sentence() const;
  std::string const& name(Contender contender) const { return sides_[index(contender)].name; }

 private:
  /// A part of a run's output and results, which is compared.
  struct Part {
    std::string name;     ///< "standard output", "the result x".
    std::string strays;   ///< Difference between two runs of the baseline; empty if they are equal.
    std::string differs;  ///< Difference of a run of the candidate from the first of the baseline; empty if none
                          ///< differs.
    bool there = true;    ///< A run left a file; used for results only.
    bool written = true;  ///< A run wrote it; likewise.
  };
  struct Side {
    std::string name;
    std::vector<double> wall;
    std::vector<double> cpu;
    std::optional<double> gpu;
    std::size_t runs = 0;
  };
  static std::size_t index(Contender contender) { return static_cast<std::size_t>(contender); }
  void compare(Contender contender, WholeRun const& run);
  void compare_output(Contender contender, Heard const& output);
  bool is_output_doubtful() const;
  std::string unwritten() const;
  std::string left_out_text() const;
  void note(std::size_t part, Contender contender, std::string const& difference);

  std::array<Side, 2> sides_;
  LinePatterns ignored_;
  std::vector<Part> parts_;
  std::optional<WholeRun> first_;
  std::optional<PrintedOutput> printed_;  ///< Output of the baseline.
  std::vector<Heard> others_;             ///< Outputs of the candidate that differ from it so far.
  std::string failure_;
  std::string objection_;
  bool without_cause_ = false, can_be_none_ = false;
  bool breaks_ = false;  ///< A signal ended the candidate, but no earlier run of the baseline.
};

/// A text on the end of a program, as in "It ended with exit code 3. It said: no such file", with its last line on
/// standard error if there is one.
std::string last_words(ProgramEnd const& end);

}  // namespace penstock::cli
