// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/hazards.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "anyprogram/watched/executable_graphs.hpp"
#include "anyprogram/watched/order.hpp"
#include "anyprogram/watched/touched_bytes.hpp"

namespace penstock::cli {
namespace {

using namespace watch_log;

constexpr std::size_t most_pairs = 1000;

class Search {
 public:
  explicit Search(WatchLog const& log) : log_(log), graphs_(log) {
    for (WatchRecord const& activity : log.activities)
      if (activity.kind == Kind::copy) copies_.try_emplace(activity.correlation, &activity);
    found_.complete = log.full_at == 0 && log.ended != 0 && log.lost == 0;
  }

  Hazards run() {
    for (std::size_t i = 0; i < log_.calls.size(); ++i)
      if ((log_.calls[i].flags & (failed | captured)) == 0) take(i);
    for (auto const& [place, hazard] : by_place_) found_.pairs.push_back(hazard);
    std::sort(found_.pairs.begin(), found_.pairs.end(), [](Hazard const& one, Hazard const& other) {
      return std::tuple(other.count, one.first.call) < std::tuple(one.count, other.first.call);
    });
    return found_;
  }

 private:
  /// The last operation of a stream.
  using Last = std::map<std::size_t, Touch>;
  struct Memory {
    std::uint64_t bytes = 0;
  };
  /// Two threads, with the function and the stream of each.
  using Place = std::tuple<std::uint32_t, std::uint16_t, std::uint64_t, std::uint32_t, std::uint16_t, std::uint64_t>;

  WatchRecord const* activity_of(WatchRecord const& call) const {
    auto const found = copies_.find(call.correlation);
    return found == copies_.end() ? nullptr : found->second;
  }

  /// True if the call returns once its work is done.
  bool waits_for_itself(WatchRecord const& call) const {
    if (static_cast<Call>(call.what) != Call::copy) return false;
    WatchRecord const* const activity = activity_of(call);
    if (activity == nullptr) return (call.flags & waits) != 0;
    if ((call.flags & waits) != 0) return activity->what != copy_on_device;
    // An asynchronous copy into pageable memory is not asynchronous.
    return activity->what == copy_out && activity->to == pageable_memory;
  }

  void take(std::size_t number) {
    WatchRecord const& call = log_.calls[number];
    bool const waiting = waits_for_itself(call);
    Touch touch{number, false, fenced_.take(call, waiting), unfenced_.take(call, waiting)};
    told_.take(call, waiting);
    bool const contiguous = (call.flags & scattered) == 0;
    switch (static_cast<Call>(call.what)) {
      case Call::launch:
        count_pairs(touch, launches_, found_.launches);
        count_pairs(touch, copies_made_, found_.launches_and_copies);
        launches_[touch.unfenced.stream] = touch;
        break;
      case Call::copy:
      case Call::fill:
        compared_.clear();
        if (!contiguous) {
          ++found_.unknown_bytes;
        } else {
          touch_bytes(touch, call.first, call.bytes, true);
          // The driver has read pageable memory when the call returns.
          WatchRecord const* const activity = activity_of(call);
          if (static_cast<Call>(call.what) == Call::copy && (activity == nullptr || activity->from != pageable_memory))
            touch_bytes(touch, call.second, call.bytes, false);
        }
        note_copy(touch);
        break;
      case Call::graph_launch:
        compared_.clear();
        touch_nodes(touch, call);
        note_copy(touch);
        break;
      case Call::instantiate:
      case Call::graph_update:
        graphs_.take(call);
        break;
      case Call::allocate:
      case Call::pin:
        memory_[call.first] = {call.bytes};
        break;
      case Call::release:
      case Call::unpin:
        if (auto const memory = memory_.find(call.first); memory != memory_.end()) {
          bytes_.forget(call.first, memory->second.bytes);
          memory_.erase(memory);
        }
        break;
      default:
        break;
    }
  }

  void touch_nodes(Touch const& touch, WatchRecord const& call) {
    ExecutableGraphs::Nodes const& graph = graphs_.launched(call);
    if (!graph.known) {
      ++found_.unknown_bytes;
      return;
    }
    for (auto const& [number, node] : graph.nodes) {
      if (node == nullptr || (node->flags & scattered) != 0) {
        ++found_.unknown_bytes;
        continue;
      }
      touch_bytes(touch, node->first, node->bytes, true);
      if (node->kind == Kind::graph_copy) touch_bytes(touch, node->second, node->bytes, false);
    }
  }

  void note_copy(Touch const& touch) {
    count_pairs(touch, launches_, found_.launches_and_copies);
    copies_made_[touch.unfenced.stream] = touch;
  }

  bool only_by_fence(Touch const& earlier) const {
    return fenced_.before_last(earlier.fenced) && !unfenced_.before_last(earlier.unfenced);
  }

  void count_pairs(Touch const& touch, Last const& last, std::uint64_t& count) const {
    for (auto const& [stream, earlier] : last)
      if (stream != touch.unfenced.stream && only_by_fence(earlier)) ++count;
  }

  void touch_bytes(Touch touch, std::uint64_t begin, std::uint64_t bytes, bool writes) {
    touch.writes = writes;
    bytes_.touch(
        begin, bytes, touch,
        [&](Touch const& earlier, std::uint64_t from, std::uint64_t to) { compare(earlier, touch, from, to); },
        [&](Touch const& earlier) {
          return fenced_.before_last(earlier.fenced) && told_.before_last(earlier.unfenced);
        });
  }

  void compare(Touch const& earlier, Touch const& touch, std::uint64_t from, std::uint64_t to) {
    if (!compared_.insert(earlier.call).second) return;
    if (!fenced_.before_last(earlier.fenced)) {
      ++found_.unordered;
    } else if (!unfenced_.before_last(earlier.unfenced)) {
      accuse(earlier, touch, from, to);
    } else if (!told_.before_last(earlier.unfenced)) {
      ++found_.told;
    }
  }

  void accuse(Touch const& earlier, Touch const& touch, std::uint64_t from, std::uint64_t to) {
    ++found_.count;
    WatchRecord const &one = log_.calls[earlier.call], &other = log_.calls[touch.call];
    Place const place{one.thread, one.function, one.stream, other.thread, other.function, other.stream};
    auto const found = by_place_.find(place);
    if (found != by_place_.end()) {
      ++found->second.count;
    } else if (by_place_.size() < most_pairs) {
      by_place_[place] = {{earlier.call, earlier.writes}, {touch.call, touch.writes}, from, to - from};
    }
  }

  WatchLog const& log_;
  std::unordered_map<std::uint32_t, WatchRecord const*> copies_;
  ExecutableGraphs graphs_;
  Order fenced_{{.fence = true}};
  Order unfenced_{{.fence = false}};
  Order told_{{.fence = false, .threads_tell = false}};
  TouchedBytes bytes_;
  std::unordered_map<std::uint64_t, Memory> memory_;
  Last launches_;
  Last copies_made_;
  std::unordered_set<std::size_t> compared_;  ///< Operations that were compared with the call that is taken.
  std::map<Place, Hazard> by_place_;
  Hazards found_;
};

}  // namespace

Hazards find_hazards(WatchLog const& log) {
  return Search(log).run();
}

namespace {

std::string side_text(WatchLog const& log, HazardSide const& side) {
  WatchRecord const& call = log.calls[side.call];
  return call_name(log, call) + " of " + thread_name(log, call.thread) + " in " + stream_name(call.stream) +
         (side.writes ? ", which writes" : ", which reads") + " (correlation " + std::to_string(call.correlation) + ")";
}

std::string counted(std::uint64_t count, char const* one, char const* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

}  // namespace

std::string as_text(Hazard const& hazard, WatchLog const& log) {
  return side_text(log, hazard.first) + ", then " + side_text(log, hazard.second) + ", on " +
         counted(hazard.bytes, "byte", "bytes") + " they share";
}

std::string as_text(Hazards const& hazards, WatchLog const& log) {
  constexpr std::size_t most_lines = 10;
  std::string text;
  for (std::size_t i = 0; i < hazards.pairs.size() && i < most_lines; ++i) {
    Hazard const& hazard = hazards.pairs[i];
    text += "  " + counted(hazard.count, "time", "times") + ": " + as_text(hazard, log) + "\n";
  }
  if (hazards.pairs.size() > most_lines)
    text += "  and " + counted(hazards.pairs.size() - most_lines, "other place", "other places") + "\n";
  if (hazards.launches + hazards.launches_and_copies > 0)
    text += "  Of kernels it is not known which bytes they touch: only the legacy stream keeps " +
            counted(hazards.launches, "pair of launches", "pairs of launches") + " in order, and " +
            counted(hazards.launches_and_copies, "pair", "pairs") + " of a launch and a copy.\n";
  if (hazards.told > 0)
    text += "  " + counted(hazards.told, "pair is", "pairs are") +
            " in order if the thread that waited told the other one, which is not seen.\n";
  if (hazards.unordered > 0)
    text += "  " + counted(hazards.unordered, "pair", "pairs") +
            " on the same bytes have no order as the program is, with the legacy stream or without.\n";
  if (hazards.unknown_bytes > 0)
    text += "  " + counted(hazards.unknown_bytes, "copy or graph was", "copies or graphs were") +
            " left out, since it is not known which bytes they touch.\n";
  if (!text.empty() && !hazards.complete) text += "  The log does not have all calls, so there may be more.\n";
  return text;
}

}  // namespace penstock::cli
