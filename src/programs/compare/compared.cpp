// SPDX-License-Identifier: Apache-2.0
#include "programs/compare/compared.hpp"

#include <algorithm>
#include <vector>

#include "engine/core/too_slow.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/meter.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;
using measure::Spread;

/// A difference below this does not count.
constexpr double noise = 0.1;
/// Fewer pairs of runs do not show how far they vary.
constexpr std::size_t fewest_runs = 3;

std::string times(double factor) {
  return formatted(factor >= 9.95 ? "%.0f" : "%.1f", factor);
}

/// The speed-ups of some points.
struct Found {
  Spread all{.median = 0, .least = 0, .most = 0};  ///< Spread of their medians: the greatest is `median`.
  std::string list;                                ///< "2.1 times (tile 4 KiB, 2.0 to 2.2) and 1.5 times (...)".
  bool told = false;                               ///< At least one point has all its runs on one side.
  bool enough = true;                              ///< Each point has enough runs.
};

Found find_in(std::vector<ComparedPoint const*> const& points) {
  Found found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Spread const one = measure::spread_of(points[i]->speed_ups());
    if (i == 0) found.all = one;
    found.all = {std::max(found.all.median, one.median), std::min(found.all.least, one.median),
                 std::max(found.all.most, one.median)};
    found.told = found.told || one.least > 1 || one.most < 1 || (one.most < 1 + noise && one.least > 1 - noise);
    found.enough = found.enough && points[i]->legacy.tiles.size() >= fewest_runs;
    std::string const where = points[i]->elsewhere();
    found.list += (i == 0                  ? ""
                   : i + 1 < points.size() ? ", "
                                           : " and ") +
                  times(one.median) + " times (" + (where.empty() ? "" : where + ", ") + times(one.least) + " to " +
                  times(one.most) + ")";
  }
  return found;
}

bool no_difference(Found const& found) {
  return found.told && found.enough && found.all.median < 1 + noise && found.all.least > 1 - noise;
}

/// The text on them, after "With 16 threads, ".
std::string words_on(Found const& found, bool one_thread) {
  if (!found.told || !found.enough) {
    return "per-thread default streams came to " + found.list + " the tiles of the legacy one: " +
           (found.enough ? "the runs stray too far to tell. " : "that is too few runs to tell. ") +
           "Ask for more rounds or a longer window, and see that nothing else is busy here.";
  }
  if (no_difference(found)) {
    return "per-thread default streams make no difference: they come to " + found.list +
           " the tiles of the legacy one, and a tenth is noise. Where one thread or the link does all there is to do, "
           "no thread waits for another's stream.";
  }
  if (found.all.median < 1 + noise) {
    return "per-thread default streams come to no more than " + found.list +
           " the tiles of the legacy one: that build is the faster.";
  }
  return "per-thread default streams come to " + found.list + " the tiles of the legacy one" +
         (one_thread ? ", though one thread has no other to take turns with."
                     : ", in which the work of all threads takes turns in a single stream.");
}

/// The text on them, after "With the framework as it is used, ".
std::string words_on_used(Found const& found) {
  std::string const came_to = found.list + " the tiles of the legacy one";
  if (!found.told || !found.enough) {
    return "per-thread default streams came to " + came_to +
           (found.enough ? ", but those runs stray too far to tell." : ", but those are too few runs to tell.");
  }
  if (no_difference(found)) return "per-thread default streams make no difference: they come to " + came_to + ".";
  return "per-thread default streams come to " + came_to + ".";
}

/// For points where per-thread default streams made no difference: why not, and the setting in which they do; or empty.
std::string why_no_gain(Compared const& compared, std::vector<ComparedPoint const*> const& points) {
  unsigned most = 0;
  for (ComparedPoint const* point : points) {
    // Where each lane does all in its default stream there is another reason.
    if (point->in_case() == bare_case) return "";
    if (point->axes.value("shape", compared.option("shape")) == "single") return "";
    Json const& threads = point->per_thread.last.value("threads", Json());
    if (threads.is_object()) most = std::max(most, threads.value("lanes", 0U));
  }
  if (most == 0) return "";
  constexpr std::uint64_t usual = 4;
  std::uint64_t const lanes = std::max({usual, compared.most_threads(), compared.threads_everywhere()});
  return (most == 1 ? std::string(" One lane drives the device there")
                    : " The lanes there compute in the default stream") +
         ", and copies have streams of their own, so next to nothing waits in the default stream. With --lanes " +
         std::to_string(lanes) + " --shape single each lane does all in it, as in the case bare, and they may gain.";
}

bool any_measured(std::vector<ComparedPoint const*> const& points) {
  return std::ranges::any_of(points, [](ComparedPoint const* point) { return point->measured(); });
}

}  // namespace

std::string late_in(Compared const& compared) {
  std::vector<std::string> places;
  std::string first;
  for (ComparedPoint const& point : compared.points) {
    if (!point.measured() || point.late().empty()) continue;
    if (first.empty()) first = point.late();
    places.push_back(point.where());
  }
  return late_sentence(first, places, compared.points.size());
}

std::string value_text(Json const& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void ComparedSide::take(Json const& point) {
  last = point;
  if (!point.at("error").is_null()) {
    error = point.at("error").get<std::string>();
    return;
  }
  tiles.push_back(point.at("tiles_per_s").at("median").get<double>());
  cpu.push_back(point.at("cpu_s_per_gb").at("median").get<double>());
  if (too_slow.empty()) too_slow = too_slow_in(point.value("remarks", std::vector<std::string>()));
}

void ComparedSide::drop_rounds(std::size_t from, std::size_t count) {
  for (std::vector<double>* figures : {&tiles, &cpu}) {
    auto const first = figures->begin() + static_cast<std::ptrdiff_t>(from);
    figures->erase(first, first + static_cast<std::ptrdiff_t>(count));
  }
}

void ComparedPoint::take(Json const& of_legacy, Json const& of_per_thread) {
  std::size_t const before = legacy.tiles.size();
  bool const late_before = !late().empty();
  ComparedPoint const as_it_was = *this;
  legacy.too_slow.clear();
  per_thread.too_slow.clear();
  legacy.take(of_legacy);
  per_thread.take(of_per_thread);
  if (!error().empty() || before == 0) return;
  if (late().empty() && late_before) {
    legacy.drop_rounds(0, before);
    per_thread.drop_rounds(0, before);
  } else if (!late().empty() && !late_before) {
    *this = as_it_was;
  }
}

double ComparedSide::gigabytes() const {
  if (tiles.empty() || !error.empty()) return 0;
  return last.at("gb_per_s").at("median").get<double>() / last.at("tiles_per_s").at("median").get<double>();
}

void ComparedPoint::expect_same_results() {
  auto const digest = [](Json const& point) { return point.is_object() ? point.value("digest", "") : std::string(); };
  std::string const old = digest(legacy.last), fresh = digest(per_thread.last);
  if (old.empty() || fresh.empty() || old == fresh || !error().empty()) return;
  per_thread.error = "Its results are not those of the legacy build: their digest is " + fresh + " instead of " + old +
                     ". A stage that works in several streams without an order between them does that.";
}

std::vector<double> ComparedPoint::speed_ups() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < legacy.tiles.size(); ++i) all.push_back(per_thread.tiles[i] / legacy.tiles[i]);
  return all;
}

std::string ComparedPoint::place_without(std::string const& left_out) const {
  std::string text;
  for (auto const& [name, value] : axes.items()) {
    if (name == left_out) continue;
    text += (text.empty() ? "" : ", ") + name + " " + axis_value_text(name, value_text(value));
  }
  return text;
}

std::uint64_t Compared::most_threads() const {
  std::uint64_t most = 0;
  for (ComparedPoint const& point : points) most = std::max(most, point.threads());
  return most;
}

std::uint64_t Compared::threads_everywhere() const {
  auto const found = first.at("options").find("producers");
  return found != first.at("options").end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string Compared::option(char const* name) const {
  auto const found = first.at("options").find(name);
  return found != first.at("options").end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<ComparedPoint const*> Compared::claimed() const {
  std::uint64_t const most = most_threads();
  std::vector<ComparedPoint const*> found;
  for (ComparedPoint const& point : points) {
    if (point.threads() == most && !point.own_streams && point.in_case() != used_case) found.push_back(&point);
  }
  return found;
}

std::vector<ComparedPoint const*> Compared::as_used() const {
  std::uint64_t const most = most_threads();
  std::vector<ComparedPoint const*> found;
  for (ComparedPoint const& point : points) {
    if (point.threads() == most && !point.own_streams && point.in_case() == used_case) found.push_back(&point);
  }
  return found;
}

std::string sentence_on(Compared const& compared) {
  auto claimed = compared.claimed();
  if (claimed.empty() && !compared.points.empty()) {
    return "The work names streams of its own, which no default stream is in the way of: both builds do the same, and "
           "no difference is to be expected.";
  }
  bool const some = any_measured(claimed);
  std::erase_if(claimed, [](ComparedPoint const* point) { return !point->judged_by_its_clock(); });
  std::uint64_t const most = compared.most_threads();
  std::uint64_t const threads = most > 0 ? most : compared.threads_everywhere();
  std::string text =
      threads == 0 ? "" : "With " + std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ");
  if (claimed.empty()) {
    text += text.empty() ? "Nothing" : "nothing";
    text +=
        some ? " is judged: this machine was too slow for the clock of its model." : " was measured in both builds.";
  } else {
    Found const found = find_in(claimed);
    text += words_on(found, threads == 1) + (no_difference(found) ? why_no_gain(compared, claimed) : "");
  }
  auto used = compared.as_used();
  std::erase_if(used, [](ComparedPoint const* point) { return !point->judged_by_its_clock(); });
  if (!used.empty()) {
    Found const found = find_in(used);
    text += " With the framework as it is used, " + words_on_used(found) +
            (no_difference(found) ? why_no_gain(compared, used) : "");
  }
  bool const some_own = std::any_of(compared.points.begin(), compared.points.end(),
                                    [](ComparedPoint const& point) { return point.own_streams; });
  if (some_own) {
    text +=
        " Points with streams own are left out of that: their work names streams of its own, which no default "
        "stream is in the way of, and no difference is to be expected of them.";
  }
  return text;
}

}  // namespace penstock::cli
