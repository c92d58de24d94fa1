// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// Beginning of a modelled device's remark that this machine is too slow for it.
inline constexpr std::string_view too_slow_for_its_clock = "This machine is too slow for its clock";

/// Keeps the first such remark in `kept`, which is empty at first.
inline void keep_too_slow(std::vector<std::string> const& remarks, std::string& kept) {
  auto const says_so = [](std::string const& remark) { return remark.starts_with(too_slow_for_its_clock); };
  auto const found = std::ranges::find_if(remarks, says_so);
  if (kept.empty() && found != remarks.end()) kept = *found;
}

/// The first such remark; empty if there is none.
inline std::string too_slow_in(std::vector<std::string> const& remarks) {
  std::string kept;
  keep_too_slow(remarks, kept);
  return kept;
}

}  // namespace penstock
