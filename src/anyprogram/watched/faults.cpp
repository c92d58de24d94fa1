// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/faults.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace penstock::cli {
namespace {

using namespace watch_log;

/// Number of times in one place that count as a loop.
constexpr std::uint64_t loop = 3;

/// Sums the cost of a fault, by place.
class Tally {
 public:
  explicit Tally(WatchModel const& model) : model_(model) {}

  void add(WatchRecord const& call, std::int64_t cost) {
    auto& place = places_[{call.thread, call.function, call.what, call.stream}];
    if (place.count == 0 || cost > place.most) {
      place.correlation = call.correlation;
      place.most = cost;
    }
    place.thread = call.thread;
    place.call = call_name(model_.log(), call);
    place.stream = call.stream == 0 ? "" : stream_name(call.stream);
    ++place.count;
    place.cost += cost;
  }
  /// Forgets places with fewer calls than a loop.
  void keep_loops() {
    std::erase_if(places_, [](auto const& place) { return place.second.count < loop; });
  }
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (auto const& [key, place] : places_) all += place.count;
    return all;
  }
  std::int64_t cost() const {
    std::int64_t all = 0;
    for (auto const& [key, place] : places_) all += place.cost;
    return all;
  }
  std::vector<FaultPlace> worst() const {
    constexpr std::size_t most = 3;
    std::vector<FaultPlace> found;
    for (auto const& [key, place] : places_) found.push_back(place);
    std::stable_sort(found.begin(), found.end(),
                     [](FaultPlace const& one, FaultPlace const& other) { return one.cost > other.cost; });
    if (found.size() > most) found.resize(most);
    return found;
  }

 private:
  WatchModel const& model_;
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint8_t, std::uint64_t>, FaultPlace> places_;
};

Fault made_of(FaultKind kind, Tally const& tally, std::int64_t cost) {
  return {kind, tally.count(), cost, tally.worst()};
}

Fault pageable_copies(WatchModel const& model) {
  Tally tally(model);
  std::vector<Interval> waited;
  std::set<std::uint32_t> seen;  // A large copy is several activities.
  for (Work const& work : model.works()) {
    bool const unpinned = work.activity->from == pageable_memory || work.activity->to == pageable_memory;
    if (work.activity->kind != Kind::copy || !unpinned || work.call == nullptr || blocks_host(*work.call) ||
        static_cast<Call>(work.call->what) != Call::copy || !seen.insert(work.call->correlation).second)
      continue;
    Interval const stretch{model.since_begin(work.call->begin), model.since_begin(work.call->end)};
    waited.push_back(stretch);
    tally.add(*work.call, stretch.end - stretch.begin);
  }
  return made_of(FaultKind::pageable, tally, Intervals(std::move(waited)).length());
}

Fault work_in_one_stream(WatchModel const& model) {
  std::set<std::size_t> streams;
  std::set<WorkKind> kinds;
  std::set<std::uint32_t> threads;
  Tally tally(model);
  for (Work const& work : model.works()) {
    if (work.kind == WorkKind::other) continue;
    streams.insert(work.stream);
    kinds.insert(work.kind);
    if (work.call == nullptr) continue;
    threads.insert(work.call->thread);
    tally.add(*work.call, work.end - work.begin);
  }
  if (streams.size() != 1 || (kinds.size() < 2 && threads.size() < 2)) return {.kind = FaultKind::one_stream};
  Interval const window = model.window();
  return made_of(FaultKind::one_stream, tally, window.end - window.begin);
}

/// Finds, by program order, the work in front of a work in the legacy stream, and the work behind it.
Fault legacy_work(WatchModel const& model) {
  std::vector<Work const*> asked;
  for (Work const& work : model.works())
    if (work.call != nullptr && model.streams()[work.stream].blocking) asked.push_back(&work);
  std::stable_sort(asked.begin(), asked.end(),
                   [](Work const* one, Work const* other) { return one->call->begin < other->call->begin; });
  // State of a context: the last work asked for in the legacy stream, and the time until which other streams have work.
  struct Context {
    Work const* legacy = nullptr;
    std::int64_t others_end = 0;
    bool others = false;
  };
  std::map<std::uint16_t, Context> contexts;
  Tally tally(model);
  std::vector<Interval> held;
  std::map<WatchRecord const*, std::int64_t> cost;
  for (Work const* const work : asked) {
    Context& context = contexts[work->call->device];
    bool const is_legacy = in_legacy_stream(*work->call);
    Work const* const blamed = is_legacy ? work : context.legacy;
    std::int64_t const until = std::min(work->begin, is_legacy           ? context.others_end
                                                     : blamed != nullptr ? blamed->end
                                                                         : 0);
    if (blamed != nullptr && until > work->ready) {
      held.push_back({work->ready, until});
      cost[blamed->call] += until - work->ready;
    }
    if (is_legacy) {
      context.legacy = work;
      cost.try_emplace(work->call, 0);
    } else {
      context.others_end = std::max(context.others_end, work->end);
      context.others = true;
    }
  }
  if (std::none_of(contexts.begin(), contexts.end(), [](auto const& one) { return one.second.others; }))
    return {.kind = FaultKind::legacy};
  for (auto const& [call, lost] : cost) tally.add(*call, lost);
  return made_of(FaultKind::legacy, tally, Intervals(std::move(held)).length());
}

Fault blocking_calls(WatchModel const& model) {
  Tally tally(model);
  Interval const window = model.window();
  for (WatchRecord const& call : model.log().calls) {
    if (!blocks_host(call) || (call.flags & failed) != 0) continue;
    std::int64_t const begin = std::max(window.begin, model.since_begin(call.begin));
    std::int64_t const end = std::min(window.end, model.since_begin(call.end));
    if (end > begin) tally.add(call, end - begin - model.several().within(begin, end));
  }
  tally.keep_loops();
  return made_of(FaultKind::host_blocks, tally, tally.cost());
}

}  // namespace

Findings find_faults(WatchModel const& model) {
  Findings found;
  std::vector<Gap> const gaps = find_gaps(model);
  for (Fault const& fault :
       {pageable_copies(model), work_in_one_stream(model), legacy_work(model), blocking_calls(model)})
    found.faults.push_back(fault);
  for (FaultKind const why : {FaultKind::host_blocks, FaultKind::slow_calls, FaultKind::host_late, FaultKind::queued}) {
    GapSum sum{.why = why};
    Tally tally(model);
    for (Gap const& gap : gaps) {
      if (gap.why != why) continue;
      ++sum.count;
      sum.time += gap.end - gap.begin;
      if (gap.call != nullptr) tally.add(*gap.call, gap.end - gap.begin);
    }
    found.gaps.push_back(sum);
    if (why == FaultKind::host_blocks) {
      // Threads waited during these gaps, so they add to that fault's cost.
      if (found.faults.back().count > 0) found.faults.back().cost += sum.time;
    } else {
      found.faults.push_back({why, sum.count, sum.time, tally.worst()});
    }
  }
  Interval const window = model.window();
  std::int64_t const most = std::max<std::int64_t>(0, window.end - window.begin - model.possible());
  for (Fault& fault : found.faults) fault.cost = std::min(fault.cost, most);
  for (Fault const& fault : found.faults) found.counts[fault.kind] = fault.count;
  // Faults that cost less than a hundredth are only counted.
  std::erase_if(found.faults,
                [&](Fault const& fault) { return fault.count == 0 || fault.cost * 100 < window.end - window.begin; });
  std::stable_sort(found.faults.begin(), found.faults.end(),
                   [](Fault const& one, Fault const& other) { return one.cost > other.cost; });
  found.no_help = why_streams_do_not_help(model, found.gaps);
  return found;
}

}  // namespace penstock::cli
