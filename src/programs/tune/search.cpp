// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "programs/tune/contest.hpp"

namespace penstock::measure {
namespace {

/// Part of the time that is kept to look for something cheaper. The final gets the time of `final_looks` looks, but no
/// less than the one part, and no more than the other.
constexpr double saving_part = 0.15;
constexpr double final_looks = 21, least_final_part = 0.1, most_final_part = 0.4;
/// Number of spread points that are tried; time may allow fewer.
constexpr std::size_t spread_count = 12;
/// A point that was worse by this factor is not measured again.
constexpr double hopeless = 0.85;
/// A step that gains less does not count.
constexpr double worth_a_round = 0.005;
/// Limits of the distance from the best at which a point counts as good: in between the noise decides.
constexpr double least_equal = 0.01, most_equal = 0.03;

class Search {
 public:
  Search(std::vector<SearchAxis> const& axes, Landscape& landscape, SearchOptions const& options,
         std::stop_token const& stop)
      : axes_(axes), landscape_(landscape), options_(options), contest_(landscape, stop) {}

  Found run() {
    contest_.set_deadline(std::numeric_limits<double>::infinity());
    hold({options_.defaults}, {.most = 1}, Effort::glance, "defaults");
    at_ = options_.defaults;
    for (KnownStart const& start : options_.known) {
      if (start.levels == at_ || !landscape_.allowed(start.levels)) continue;
      at_ = best_of(hold({at_, start.levels}, {.most = 2}, Effort::glance, start.name)).value_or(at_);
    }
    double const looks = final_looks * contest_.seconds(Effort::look);
    double const until =
        options_.within - std::clamp(looks, least_final_part * options_.within, most_final_part * options_.within);
    contest_.set_deadline(until - saving_part * options_.within);
    bool const all = look_everywhere();
    contest_.set_deadline(until);
    Levels const highest = highest_peak();
    at_ = highest;
    save(highest);
    contest_.set_deadline(options_.within);
    Found found = final_of(highest);
    found.all = all;
    return found;
  }

 private:
  using Moves = std::vector<Levels>;

  std::vector<Standing> hold(Moves const& entrants, Rounds rounds, Effort effort, std::string const& move) {
    if (options_.progress) options_.progress(move, contest_);
    return contest_.hold(entrants, rounds, effort, move);
  }

  /// Climbs from the best of some random points, again and again until that leads to nothing better. False if the time
  /// ran out.
  bool look_everywhere() {
    constexpr unsigned starts = 3;
    for (unsigned start = 0; start < starts; ++start) {
      Moves points = spread();
      // A later start climbs from the other points.
      if (start == 0) points.insert(points.begin(), at_);
      if (points.empty()) return true;
      at_ = best_of(hold(points, {.most = 2}, Effort::glance, "spread")).value_or(points.front());
      climb();
      peaks_.push_back(at_);
      if (!contest_.time_for(2 * spread_count, Effort::glance)) return false;
      Levels const before = peaks_.front();
      if (start > 0 && highest_peak() == before) return true;
    }
    return true;
  }

  /// The best of these; the first, if it is as good, as far as can be told.
  std::optional<Levels> best_of(std::vector<Standing> const& standings) const {
    auto const best = std::max_element(standings.begin(), standings.end(),
                                       [](Standing const& a, Standing const& b) { return a.ahead < b.ahead; });
    if (best == standings.end() || !best->in) return std::nullopt;
    bool const better = !standings.front().in || best->ahead > contest_.noise(Effort::glance);
    return better ? best->levels : standings.front().levels;
  }

  Levels highest_peak() {
    if (peaks_.size() > 1) {
      auto const best = best_of(hold(peaks_, {.least = 2, .most = 4}, Effort::look, "peaks"));
      if (best) peaks_ = {*best};
    }
    return peaks_.front();
  }

  void climb() {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (!axes_[axis].ordered) along(axis, 1);
    }
    for (std::size_t fourth = 2;; ++fourth) {
      bool last = true;
      for (;;) {
        Levels const before = at_;
        for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
          std::size_t const step = std::max<std::size_t>(1, axes_[axis].count >> fourth);
          last = last && step == 1;
          if (axes_[axis].ordered) along(axis, step);
        }
        if (at_ == before) break;
        onward(before);
      }
      if (!last) continue;
      Levels const before = at_;
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        if (!axes_[axis].ordered) along(axis, 1);
      }
      if (at_ == before) across();
      if (at_ == before || !contest_.time_for(2, Effort::glance)) return;
    }
  }

  /// Goes up or down one axis, for as long as it gets better, in steps that double.
  void along(std::size_t axis, std::size_t step) {
    std::string const move = "along " + axes_[axis].name;
    if (!axes_[axis].ordered) {
      Moves others;
      for (std::size_t level = 0; level < axes_[axis].count; ++level) {
        Levels other = at_;
        other[axis] = level;
        others.push_back(other);
      }
      better_of(others, move);
      return;
    }
    auto const size = static_cast<std::ptrdiff_t>(step);
    Levels const before = at_;
    if (!better_of({moved(at_, axis, -size), moved(at_, axis, size)}, move)) return;
    bool const up = at_[axis] > before[axis];
    for (std::ptrdiff_t next = 2 * size;; next *= 2) {
      if (!better_of({moved(at_, axis, up ? next : -next)}, move)) return;
    }
  }

  /// Repeats the combined step of a round of moves.
  void onward(Levels const& before) {
    Levels further = at_;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (!axes_[axis].ordered) continue;
      auto const by = static_cast<std::ptrdiff_t>(at_[axis]) - static_cast<std::ptrdiff_t>(before[axis]);
      further = moved(further, axis, by);
    }
    better_of({further}, "onward");
  }

  /// Moves along two axes at once, for diagonal ridges.
  void across() {
    for (std::size_t one = 0; one < axes_.size(); ++one) {
      for (std::size_t other = one + 1; other < axes_.size(); ++other) {
        if (!axes_[one].ordered || !axes_[other].ordered) continue;
        std::string const move = "across " + axes_[one].name + " and " + axes_[other].name;
        for (std::ptrdiff_t const step : {1, 2}) {
          while (better_of({moved(moved(at_, one, step), other, -step), moved(moved(at_, one, -step), other, step),
                            moved(moved(at_, one, step), other, step), moved(moved(at_, one, -step), other, -step)},
                           move)) {
          }
        }
      }
    }
  }

  /// Goes from the highest point to one that costs less and is as good.
  void save(Levels const& highest) {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (!axes_[axis].ordered) continue;
      for (std::size_t step = (at_[axis] + 1) / 2; step > 0;) {
        Levels const cheaper = moved(at_, axis, -static_cast<std::ptrdiff_t>(step));
        if (as_good(cheaper, highest)) {
          at_ = cheaper;
          step = std::min(step, (at_[axis] + 1) / 2);
        } else {
          step /= 2;
        }
      }
    }
  }

  bool as_good(Levels const& other, Levels const& highest) {
    if (!landscape_.allowed(other) || other == at_ || landscape_.cost(other) >= landscape_.cost(at_)) return false;
    if (hopeless_against(other, highest) || !contest_.time_for(2, Effort::look)) return false;
    // It measures no more often than it takes to know well enough.
    constexpr double most_rounds = 4;
    double const parts = contest_.noise(Effort::look) / least_equal;
    double const rounds = std::clamp(std::ceil(2 * parts * parts), 1.0, most_rounds);
    auto const standings =
        hold({highest, other}, {.least = 1, .most = static_cast<unsigned>(rounds)}, Effort::look, "saving");
    return standings[1].in && standings[1].ahead >= -same(Effort::look, rounds);
  }

  /// Distance within which two points count as the same, after `rounds` measurements of each.
  double same(Effort effort, double rounds) const {
    return std::clamp(contest_.noise(effort) * std::sqrt(2 / rounds), least_equal, most_equal);
  }

  /// Goes to the best of these, if it is better than where it is.
  bool better_of(Moves moves, std::string const& move) {
    Moves entrants{at_};
    for (Levels& one : moves) {
      if (!landscape_.allowed(one) || std::find(entrants.begin(), entrants.end(), one) != entrants.end()) continue;
      if (hopeless_against(one, at_) || !settled_.emplace(at_, one).second) continue;
      entrants.push_back(std::move(one));
    }
    if (entrants.size() < 2 || !contest_.time_for(static_cast<double>(entrants.size()), Effort::glance)) return false;
    Rounds const rounds{.least = 1, .most = 4, .to_beat_the_first = true};
    auto const standings = hold(entrants, rounds, Effort::glance, move);
    auto const best = std::max_element(standings.begin(), standings.end(),
                                       [](Standing const& a, Standing const& b) { return a.ahead < b.ahead; });
    double const error = std::max(worth_a_round, contest_.noise(Effort::glance) * std::sqrt(2.0 / rounds.most));
    if (best == standings.begin() || !best->in || (standings.front().in && best->ahead < error)) return false;
    settled_.emplace(best->levels, at_);
    at_ = best->levels;
    return true;
  }

  bool hopeless_against(Levels const& one, Levels const& other) const {
    Attempt const* const tried = contest_.find(one);
    Attempt const* const held = contest_.find(other);
    if (tried == nullptr) return false;
    if (tried->failed) return true;
    if (held == nullptr || held->scores.empty() || tried->scores.empty()) return false;
    return *std::max_element(tried->scores.begin(), tried->scores.end()) <
           hopeless * *std::max_element(held->scores.begin(), held->scores.end());
  }

  Found final_of(Levels const& highest) {
    Moves entrants{options_.defaults};
    for (Levels const& one : {highest, at_}) {
      if (std::find(entrants.begin(), entrants.end(), one) == entrants.end()) entrants.push_back(one);
    }
    // If time is short, only defaults and best are measured.
    bool const time = contest_.time_for(static_cast<double>(2 * entrants.size()), Effort::look);
    if (!time && entrants.size() > 2) entrants.erase(entrants.begin() + 1);
    if (options_.progress) options_.progress("final", contest_);
    Found found;
    static_cast<Final&>(found) = hold_final(contest_, landscape_, entrants);
    found.attempts = contest_.attempts();
    found.runs = contest_.runs();
    return found;
  }

  Levels moved(Levels levels, std::size_t axis, std::ptrdiff_t by) const {
    auto const most = static_cast<std::ptrdiff_t>(axes_[axis].count) - 1;
    levels[axis] =
        static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(levels[axis]) + by, 0, most));
    return levels;
  }

  /// Random points that were not tried yet.
  Moves spread() {
    Moves points = spread_points(axes_, spread_count, random_);
    std::erase_if(points, [&](Levels const& one) { return !landscape_.allowed(one) || contest_.find(one) != nullptr; });
    return points;
  }

  std::vector<SearchAxis> const& axes_;
  Landscape& landscape_;
  SearchOptions const& options_;
  Contest contest_;
  Levels at_;                                    ///< The best so far.
  Moves peaks_;                                  ///< Points where climbs ended.
  std::set<std::pair<Levels, Levels>> settled_;  ///< Pairs that were compared, and are not compared again.
  std::mt19937 random_{1};                       ///< The same in each process: a search can be repeated.
};

}  // namespace

Found search(std::vector<SearchAxis> const& axes, Landscape& landscape, SearchOptions const& options,
             std::stop_token const& stop) {
  return Search(axes, landscape, options, stop).run();
}

}  // namespace penstock::measure
