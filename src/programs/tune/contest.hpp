// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

namespace penstock::measure {

/// Index, from 0, of the value that a point has on each axis.
using Levels = std::vector<std::size_t>;

/// An axis of a search.
struct SearchAxis {
  std::size_t count = 1;  ///< Values that it has.
  /// Neighbouring values have similar results, like numbers in increasing order; otherwise they are merely different,
  /// like signals.
  bool ordered = true;
  std::string name = {};  ///< Name for the user that reads what was tried.
};

/// Effort of a measurement.
enum class Effort : std::uint8_t {
  glance,  ///< Little: there are many points.
  look,    ///< Much: few points are left, which differ little.
};

/// A function whose highest point a search looks for: a machine with a job, or something made up in a test.
///
/// Threads: one.
class Landscape {
 public:
  Landscape() = default;
  Landscape(Landscape const&) = delete;
  Landscape& operator=(Landscape const&) = delete;
  virtual ~Landscape() = default;

  /// Quality of the point, more being better, with whatever noise there is; empty if it failed.
  virtual std::optional<double> measure(Levels const& levels, Effort effort) = 0;
  /// Seconds since the search began.
  virtual double elapsed() const = 0;
  /// False for points that are not to be tried.
  virtual bool allowed(Levels const& levels) const = 0;
  /// Cost of the point while it runs, in any unit: among points that are as good the cheapest is best.
  virtual double cost(Levels const& levels) const = 0;
};

/// Points at random places, yet evenly spread on each axis: each axis is cut into `count` parts, and each point has a
/// part of each to itself. Some may be the same if axes are short.
std::vector<Levels> spread_points(std::vector<SearchAxis> const& axes, std::size_t count, std::mt19937& random);

/// A point that a search has tried.
struct Attempt {
  Levels levels = {};
  std::string found_by = {};        ///< The move that led to it: "defaults", "spread", "along tile" and so on.
  std::vector<double> scores = {};  ///< All measurements, in order.
  bool failed = false;
  /// Quality relative to the point that it was last compared with, by alternating measurements; 1 for the reference
  /// itself.
  double against = 1;
};

/// Result of a point in a contest.
struct Standing {
  Levels levels = {};
  double ahead = 0;  ///< The logarithm of its quality relative to the first entrant.
  bool in = true;    ///< It is not beaten, as far as can be told, and has not failed.
};

/// Number of rounds in which a contest measures.
struct Rounds {
  unsigned least = 1;  ///< No entrant is out before this round.
  unsigned most = 3;
  /// True: from the second round on an entrant that is no better than the first one is out, though it may be as good.
  bool to_beat_the_first = false;
};

/// Compares points by measuring them alternately, so that drifts affect all alike, and keeps account of all attempts
/// and of the time that they took.
///
/// Threads: one.
class Contest {
 public:
  Contest(Landscape& landscape, std::stop_token stop) : landscape_(landscape), stop_(std::move(stop)) {}

  /// No measurement begins that would probably not end before this time.
  void set_deadline(double seconds) noexcept { deadline_ = seconds; }
  /// Measures all entrants, then again those that are not beaten, and so on, until only the best is left or each has
  /// been measured as often as `rounds` allows. The first entrant is measured in every round.
  ///
  /// Returns one standing for each entrant, in their order; if time ran out, by the measurements until then.
  std::vector<Standing> hold(std::vector<Levels> const& entrants, Rounds rounds, Effort effort,
                             std::string const& found_by);

  /// True if `measurements` more measurements of that kind end before the deadline.
  bool time_for(double measurements, Effort effort) const;
  /// Seconds of such a measurement, by the longest of the last ones, or by a guess.
  double seconds(Effort effort) const;
  bool stopped() const { return stop_.stop_requested(); }
  /// Variation between measurements of the same point: the standard deviation of the logarithm.
  double noise(Effort effort) const;
  /// All that was tried, in the order in which it was first tried.
  std::vector<Attempt> const& attempts() const noexcept { return attempts_; }
  Attempt const* find(Levels const& levels) const;
  std::size_t runs() const noexcept { return runs_; }

 private:
  /// Measures a point; empty if it failed or there was no time.
  std::optional<double> measure(Levels const& levels, Effort effort, std::string const& found_by);
  struct Habit {
    double longest = 0;                ///< Greatest duration of the last measurements, in seconds.
    std::vector<double> strayed = {};  ///< Logarithms of ratios of a point to itself, a round later.
  };
  Habit& habit(Effort effort) noexcept { return effort == Effort::glance ? glance_ : look_; }
  Habit const& habit(Effort effort) const noexcept { return effort == Effort::glance ? glance_ : look_; }

  Landscape& landscape_;
  std::stop_token stop_;
  double deadline_ = 0;
  Habit glance_;
  Habit look_;
  std::vector<Attempt> attempts_;
  std::map<Levels, std::size_t> where_;
  std::size_t runs_ = 0;
};

/// Result of the final.
struct Final {
  std::optional<Levels> best = {};  ///< Empty if nothing could be measured.
  std::vector<double> best_scores = {};
  std::vector<double> defaults_scores = {};  ///< Empty if the defaults failed.
  /// The scores are of alternating runs, one of each a round. Without time for that they are all scores there were, and
  /// the best is the last entrant, or the defaults if their median is higher.
  bool held = false;
};

/// Measures the entrants several times alternately. Among those that are as good as the best, as far as can be told,
/// the cheapest wins.
///
/// Shape: the defaults, and what was found, the best last.
Final hold_final(Contest& contest, Landscape const& landscape, std::vector<Levels> const& entrants);

}  // namespace penstock::measure
