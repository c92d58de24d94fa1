// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/no_help.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

namespace penstock::cli {
namespace {

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
  return text.data();
}

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Time in kernels that have at least as many threads as their device has room for; -1 if no device is known.
std::int64_t time_in_filling_kernels(WatchModel const& model) {
  if (model.log().devices.empty()) return -1;
  std::int64_t time = 0;
  for (Work const& work : model.works()) {
    if (work.kind != WorkKind::kernel) continue;
    auto const device = model.log().devices.find(work.activity->device);
    if (device == model.log().devices.end()) continue;
    if (work.activity->second >= device->second.multiprocessors * device->second.threads_of_one)
      time += work.end - work.begin;
  }
  return time;
}

std::int64_t median_length(WatchModel const& model) {
  std::vector<std::int64_t> lengths;
  for (Work const& work : model.works()) lengths.push_back(work.end - work.begin);
  if (lengths.empty()) return 0;
  auto const middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

/// Calls that waited until no work was left.
std::uint64_t barriers(WatchModel const& model) {
  std::uint64_t count = 0;
  auto next = model.works().begin();
  std::int64_t last_end = 0;
  std::vector<std::int64_t> asked;
  for (Work const& work : model.works())
    if (work.call != nullptr) asked.push_back(model.since_begin(work.call->begin));
  std::sort(asked.begin(), asked.end());
  std::size_t had = 0;
  for (WatchRecord const& call : model.log().calls) {
    if (!blocks_host(call)) continue;
    std::int64_t const end = model.since_begin(call.end);
    for (; next != model.works().end() && next->begin <= end; ++next) last_end = std::max(last_end, next->end);
    auto const before = static_cast<std::size_t>(std::lower_bound(asked.begin(), asked.end(), end) - asked.begin());
    auto const begun = static_cast<std::size_t>(next - model.works().begin());
    // All work asked for so far has begun and ended, and some was asked for since the last barrier.
    if (last_end <= end && before <= begun && before > had) {
      ++count;
      had = before;
    }
  }
  return count;
}

}  // namespace

std::vector<NoHelp> why_streams_do_not_help(WatchModel const& model, std::vector<GapSum> const& gaps) {
  Interval const stretch = model.window();
  std::int64_t const window = stretch.end - stretch.begin;
  Overlap const& overlap = model.overlap();
  std::vector<NoHelp> reasons;

  std::int64_t const filling = time_in_filling_kernels(model);
  double const computing = share_of(overlap.computing.count(), window);
  double const full = share_of(filling, window);
  reasons.push_back({"kernels", full >= 0.8,
                     filling < 0 ? "How much of the GPU the kernels fill is not known; they take " +
                                       percent(computing) + " of the time."
                                 : "Kernels that fill the GPU take " + percent(full) + " of the time, all kernels " +
                                       percent(computing) + "."});

  double const link = share_of(std::max(overlap.uploading, overlap.downloading).count(), window);
  reasons.push_back(
      {"link", link >= 0.85, "The busier direction of the link is in use " + percent(link) + " of the time."});

  std::int64_t late = 0;
  for (GapSum const& gap : gaps)
    if (gap.why == FaultKind::host_late || gap.why == FaultKind::slow_calls) late += gap.time;
  double const host = share_of(late, window);
  reasons.push_back({"host", host >= 0.3,
                     "The GPU has nothing to do, since the host asks for nothing, " + percent(host) + " of the time."});

  constexpr std::int64_t small = 10'000;
  std::int64_t const median = median_length(model);
  std::array<char, 32> microseconds{};
  std::snprintf(microseconds.data(), microseconds.size(), "%.1f us", static_cast<double>(median) / 1e3);
  reasons.push_back({"small", !model.works().empty() && median < small,
                     "Half of the kernels and copies take less than " + std::string(microseconds.data()) +
                         ", where asking for one takes some 5 us."});

  std::uint64_t const waits = barriers(model);
  double const between = waits == 0 ? 0 : static_cast<double>(model.works().size()) / static_cast<double>(waits);
  std::array<char, 96> sentence{};
  std::snprintf(sentence.data(), sentence.size(),
                "%llu times a thread waited until all was done, after %.1f works each.",
                static_cast<unsigned long long>(waits), between);
  reasons.push_back({"barriers", waits >= 3 && between <= 4, sentence.data()});
  return reasons;
}

}  // namespace penstock::cli
