// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/model.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace penstock::cli {
namespace {

using namespace watch_log;

WorkKind kind_of(WatchRecord const& activity) {
  if (activity.kind == Kind::kernel) return WorkKind::kernel;
  if (activity.kind != Kind::copy) return WorkKind::other;
  return activity.what == copy_in ? WorkKind::upload : activity.what == copy_out ? WorkKind::download : WorkKind::other;
}

}  // namespace

bool blocks_host(WatchRecord const& call) {
  switch (static_cast<Call>(call.what)) {
    case Call::event_sync:
    case Call::stream_sync:
    case Call::device_sync:
      return true;
    case Call::copy:
      return (call.flags & waits) != 0;
    default:
      return false;
  }
}

std::int64_t busy_time(std::span<WatchLog const> logs) {
  std::vector<Interval> all;
  for (WatchLog const& log : logs)
    for (WatchRecord const& work : log.activities)
      all.push_back({static_cast<std::int64_t>(work.begin), static_cast<std::int64_t>(work.end)});
  return Intervals(std::move(all)).length();
}

bool in_legacy_stream(WatchRecord const& call) {
  return call.stream == legacy_stream;
}

MeasuredIntervals::MeasuredIntervals(Intervals intervals) : intervals_(std::move(intervals)) {
  sums_.push_back(0);
  for (Interval const& stretch : intervals_.all()) sums_.push_back(sums_.back() + stretch.end - stretch.begin);
}

std::int64_t MeasuredIntervals::before(std::int64_t moment) const {
  auto const& all = intervals_.all();
  auto const next = std::upper_bound(all.begin(), all.end(), moment,
                                     [](std::int64_t time, Interval const& stretch) { return time < stretch.begin; });
  if (next == all.begin()) return 0;
  auto const last = std::prev(next);
  return sums_[static_cast<std::size_t>(last - all.begin())] + std::min(moment, last->end) - last->begin;
}

std::int64_t MeasuredIntervals::within(std::int64_t begin, std::int64_t end) const {
  return end > begin ? before(end) - before(begin) : 0;
}

WatchModel::WatchModel(WatchLog const& log) : log_(log) {
  find_works();
  find_ready();
  std::vector<Interval> uploads, downloads, kernels, all;
  for (Work const& work : works_) {
    all.push_back({work.begin, work.end});
    if (work.kind == WorkKind::other) continue;
    serial_ += work.end - work.begin;
    window_ = window_.begin == window_.end
                  ? all.back()
                  : Interval{std::min(window_.begin, work.begin), std::max(window_.end, work.end)};
    (work.kind == WorkKind::upload     ? uploads
     : work.kind == WorkKind::download ? downloads
                                       : kernels)
        .push_back(all.back());
  }
  overlap_ = overlap_of(Intervals(uploads), Intervals(downloads), Intervals(kernels));
  busy_ = Intervals(std::move(all));
  several_ = MeasuredIntervals(when_several());
}

void WatchModel::find_works() {
  std::unordered_map<std::uint32_t, WatchRecord const*> calls;
  std::unordered_map<std::uint64_t, bool> blocking{{legacy_stream, true}, {per_thread_stream, true}};
  for (WatchRecord const& call : log_.calls) {
    switch (static_cast<Call>(call.what)) {
      case Call::launch:
      case Call::copy:
      case Call::fill:
      case Call::graph_launch:
        calls[call.correlation] = &call;
        break;
      case Call::stream_create:
        blocking[call.stream] = (call.second & non_blocking) == 0;
        break;
      default:
        break;
    }
  }
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::size_t> numbers;
  for (WatchRecord const& activity : log_.activities) {
    auto const [place, fresh] = numbers.try_emplace({activity.device, activity.stream}, streams_.size());
    if (fresh) streams_.push_back({.device = activity.device, .number = activity.stream});
    auto const call = calls.find(activity.correlation);
    WatchedStream& stream = streams_[place->second];
    Work work{&activity, call == calls.end() ? nullptr : call->second, place->second, kind_of(activity)};
    work.begin = since_begin(activity.begin);
    work.end = since_begin(activity.end);
    if (work.call != nullptr) {
      stream.handle = work.call->stream;
      auto const known = blocking.find(stream.handle);
      stream.blocking = known != blocking.end() && known->second;
    }
    ++stream.works;
    stream.busy += work.end - work.begin;
    works_.push_back(work);
  }
}

void WatchModel::find_ready() {
  std::vector<std::int64_t> done(streams_.size(), 0);
  for (Work& work : works_) {
    std::int64_t const asked = work.call == nullptr ? work.begin : since_begin(work.call->end);
    work.ready = std::min(work.begin, std::max(asked, done[work.stream]));
    done[work.stream] = std::max(done[work.stream], work.end);
  }
}

Intervals WatchModel::when_several() const {
  std::vector<std::vector<Interval>> by_stream(streams_.size());
  for (Work const& work : works_) {
    std::int64_t const asked = work.call == nullptr ? work.begin : since_begin(work.call->begin);
    by_stream[work.stream].push_back({std::min(asked, work.begin), work.end});
  }
  std::vector<std::pair<std::int64_t, int>> changes;
  for (auto& stretches : by_stream) {
    Intervals const outstanding(std::move(stretches));
    for (Interval const& stretch : outstanding.all()) {
      changes.emplace_back(stretch.begin, 1);
      changes.emplace_back(stretch.end, -1);
    }
  }
  std::sort(changes.begin(), changes.end());
  std::vector<Interval> found;
  int streams = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    streams += changes[i].second;
    if (streams >= 2) found.push_back({changes[i].first, changes[i + 1].first});
  }
  return Intervals(std::move(found));
}

std::int64_t WatchModel::possible() const noexcept {
  return std::max({overlap_.uploading, overlap_.downloading, overlap_.computing}).count();
}

std::optional<double> WatchModel::text_overlap() const {
  if (serial_ == 0) return std::nullopt;
  return 1 - static_cast<double>(window_.end - window_.begin) / static_cast<double>(serial_);
}

std::string WatchModel::stream_text(std::size_t stream) const {
  WatchedStream const& one = streams_[stream];
  return one.handle == 0 ? "CUPTI's stream " + std::to_string(one.number) : stream_name(one.handle);
}

}  // namespace penstock::cli
