// SPDX-License-Identifier: Apache-2.0
// What a comparison takes of the runs that were made for all but throughput.
#include <cstdint>

#include "penstock/core/error.hpp"
#include "penstock/core/recording.hpp"
#include "penstock/report/stretch.hpp"
#include "tools/command/ending.hpp"
#include "tools/compare/comparison_parts.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

/// With two of so many a page stays below 1 MB.
constexpr std::size_t most_passages = 5'000;

/// No more passages than there is room for: a stretch from its middle.
Json shortened(Json timeline) {
  Json const& passages = timeline.at("passages");
  if (passages.size() <= most_passages) return timeline;
  Recording all;
  for (Json const& one : passages) {
    all.passages.push_back({.tile = one.at(2).get<std::uint64_t>(),
                            .row = one.at(0).get<std::uint32_t>(),
                            .step = static_cast<Step>(one.at(1).get<int>()),
                            .begin = one.at(3).get<std::int64_t>(),
                            .end = one.at(4).get<std::int64_t>()});
  }
  Json some = Json::array();
  for (Passage const& one : middle_of(all, most_passages).passages)
    some.push_back({one.row, static_cast<int>(one.step), one.tile, one.begin, one.end});
  timeline["passages"] = some;
  return timeline;
}

}  // namespace

void Comparison::judge(Flavour by, std::string_view results, std::span<std::size_t const> which) try {
  Json const json = Json::parse(results);
  Json const& points = json.at("points");
  if (points.size() != which.size())
    throw Error(ErrorKind::system, "A program judged other points than it was asked for.");
  for (std::size_t i = 0; i < which.size(); ++i) {
    ComparedPoint& point = parts_->points.at(which[i]);
    if (points[i].at("axes") != point.axes)
      throw Error(ErrorKind::system, "A program judged other points than it was asked for.");
    if (points[i].at("error").is_null()) {
      point.by(by).judged = points[i];
    } else {
      remark(by, points[i].at("error").get<std::string>(), which.subspan(i, 1));
    }
  }
  Json timeline = json.at("timeline");
  if (timeline.is_null()) return;
  // Both are of one point, or there is none.
  std::size_t const point = which[timeline.at("point").get<std::size_t>()];
  if (point != plainest()) return;
  timeline["point"] = point;
  (by == Flavour::legacy ? parts_->legacy_timeline : parts_->per_thread_timeline) = shortened(std::move(timeline));
} catch (nlohmann::json::exception const& problem) {
  throw Error(ErrorKind::system, unreadable_results(problem));
}

void Comparison::remark(Flavour by, std::string const& why, std::span<std::size_t const> which) {
  for (std::size_t const i : which)
    parts_->points.at(i).by(by).remarks.push_back("Its latency, ceilings and verdict could not be had: " + why);
}

}  // namespace penstock::cli
