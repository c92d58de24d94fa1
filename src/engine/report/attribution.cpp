// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/core/number_text.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

/// Sequences as ranges, "3-5, 7"; only the first ones if there are many.
std::string sequences_text(std::vector<std::uint64_t> sequences) {
  constexpr std::size_t most_parts = 8;
  std::ranges::sort(sequences);
  std::string text;
  std::size_t parts = 0;
  for (std::size_t from = 0; from < sequences.size();) {
    if (parts++ == most_parts) return text + " and more";
    std::size_t to = from;
    while (to + 1 < sequences.size() && sequences[to + 1] == sequences[to] + 1) ++to;
    text += (text.empty() ? "" : ", ") + std::to_string(sequences[from]);
    if (to > from) text += "-" + std::to_string(sequences[to]);
    from = to + 1;
  }
  return text;
}

}  // namespace

std::string describe(Attribution const& attribution) {
  std::string text;
  auto const line = [&](std::string const& more) { text += (text.empty() ? "" : "\n") + more; };
  for (Attribution::Culprit const& culprit : attribution.culprits) {
    line("tile " + std::to_string(culprit.sequence) + " fails by itself, at " + culprit.failure.stage + ": " +
         culprit.failure.reason);
  }
  auto const& innocent = attribution.innocent;
  if (!innocent.empty()) {
    line(count_text(innocent.size(), "tile") + " that the lost device had " + (innocent.size() == 1 ? "is" : "are") +
         " innocent: " + sequences_text(innocent));
  }
  auto const& rest = attribution.not_tried;
  if (!rest.empty()) {
    line(count_text(rest.size(), "tile") + " could not be tried: " + sequences_text(rest));
  } else if (attribution.culprits.empty()) {
    line("No tile fails by itself: the fault does not happen each time, or needs what ran before or beside it.");
  }
  if (!attribution.remark.empty()) line(attribution.remark);
  return text;
}

}  // namespace penstock
