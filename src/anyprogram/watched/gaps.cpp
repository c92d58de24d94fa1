// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/gaps.hpp"

#include <algorithm>
#include <unordered_map>

namespace penstock::cli {
namespace {

using namespace watch_log;

bool is_slow(WatchRecord const& call) {
  switch (static_cast<Call>(call.what)) {
    case Call::allocate:
    case Call::release:
    case Call::pin:
    case Call::unpin:
    case Call::instantiate:
    case Call::load:
    case Call::stream_create:
    case Call::stream_destroy:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<Gap> find_gaps(WatchModel const& model) {
  // The calls of each thread, by their begin.
  std::unordered_map<std::uint32_t, std::vector<WatchRecord const*>> calls;
  for (WatchRecord const& call : model.log().calls) calls[call.thread].push_back(&call);
  auto const call_before = [&](WatchRecord const& call) -> WatchRecord const* {
    auto const& all = calls[call.thread];
    auto const here = std::lower_bound(all.begin(), all.end(), call.begin,
                                       [](WatchRecord const* one, std::uint64_t time) { return one->begin < time; });
    return here == all.begin() ? nullptr : *std::prev(here);
  };

  std::vector<Gap> found;
  Interval const window = model.window();
  auto const& busy = model.busy().all();
  auto next = model.works().begin();
  for (std::size_t i = 0; i + 1 < busy.size(); ++i) {
    Gap gap{std::max(window.begin, busy[i].end), std::min(window.end, busy[i + 1].begin)};
    if (gap.begin >= gap.end) continue;
    while (next != model.works().end() && next->begin < busy[i + 1].begin) ++next;
    WatchRecord const* const call = next == model.works().end() ? nullptr : next->call;
    gap.call = call;
    if (call != nullptr && model.since_begin(call->begin) > gap.begin) {
      WatchRecord const* const before = call_before(*call);
      bool const reaches = before != nullptr && model.since_begin(before->end) > gap.begin;
      gap.why = reaches && blocks_host(*before) ? FaultKind::host_blocks
                : reaches && is_slow(*before)   ? FaultKind::slow_calls
                                                : FaultKind::host_late;
      if (gap.why != FaultKind::host_late) gap.call = before;
    }
    found.push_back(gap);
  }
  return found;
}

}  // namespace penstock::cli
