// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/programs/whole_run.hpp"

namespace penstock::cli {

/// The two that are compared: the one to go by, and the other.
enum class Contender : std::uint8_t { baseline, candidate };

/// What the times of both show.
enum class Effect : std::uint8_t { gains, loses, no_difference };

/// The runs of both as they are added, in what they took and in what they left.
///
/// Threads: one at a time.
class WholeComparison {
 public:
  /// How they are called in sentences: "as it is", "with per-thread default streams".
  WholeComparison(std::string baseline, std::string candidate, std::vector<std::string> const& results);

  /// Takes a run. A `timed` one counts for the times; a warm-up counts only for what was left.
  ///
  /// Shape: as many timed runs of both, in turn; a run of the baseline first.
  void add(Contender who, WholeRun const& run, bool timed);

  /// Takes how long the device was busy in a run of this one that counts for nothing else.
  void set_gpu(Contender who, double seconds) { sides_[index(who)].gpu = seconds; }
  /// Takes, as a sentence, why the candidate is not right, whatever it left.
  void object(std::string sentence) { objection_ = std::move(sentence); }

  std::size_t rounds() const;
  std::vector<double> const& wall(Contender who) const { return sides_[index(who)].wall; }  ///< Seconds.
  std::vector<double> const& cpu(Contender who) const { return sides_[index(who)].cpu; }    ///< Seconds.
  std::optional<double> gpu(Contender who) const { return sides_[index(who)].gpu; }  ///< Seconds; empty if not known.
  /// How many times as fast the candidate was, by round.
  std::vector<double> ratios() const;
  /// By the median of the ratios, if that is further from 1 than 2 %, and than it is uncertain by: Student's t for 99 %
  /// times what a median of as many rounds strays by. From five rounds on one that strays does not matter; of one or
  /// two nothing can be told.
  ///
  /// Shape: after a round.
  Effect effect() const;
  /// The same in a sentence, with the ratio and the rounds.
  std::string effect_sentence() const;

  /// Why there is nothing to compare: a run that was ended by a signal or ran too long. Empty if all came to an end.
  std::string const& failure() const { return failure_; }
  /// True if the candidate left what the baseline left, false if not or if something else speaks against it; empty if
  /// what the baseline leaves is not the same from run to run, so that it cannot be told.
  std::optional<bool> right() const;
  /// The same in a sentence, which names what differs.
  std::string right_sentence() const;
  std::string const& name(Contender who) const { return sides_[index(who)].name; }

 private:
  /// What of a run is compared.
  struct Part {
    std::string name;     ///< "standard output", "the result x".
    std::string strays;   ///< How runs of the baseline differ in it; empty if they do not.
    std::string differs;  ///< How a run of the candidate differs from the first of the baseline; or empty.
  };
  struct Side {
    std::string name;
    std::vector<double> wall;
    std::vector<double> cpu;
    std::optional<double> gpu;
    std::size_t runs = 0;
  };
  static std::size_t index(Contender who) { return static_cast<std::size_t>(who); }
  void compare(Contender who, WholeRun const& run);
  void note(std::size_t part, Contender who, std::string const& difference);

  std::array<Side, 2> sides_;
  std::vector<Part> parts_;
  std::optional<WholeRun> first_;
  std::string failure_;
  std::string objection_;
};

/// How it ended, as in "It ended with exit code 3. It said: no such file", with its last line on standard error, if
/// any.
std::string last_words(ProgramEnd const& end);

/// How two texts differ, as in "line 3: 'one' and 'other'"; empty if they do not. Of long texts only the begin is
/// known.
std::string difference_of(Heard const& one, Heard const& other);

}  // namespace penstock::cli
