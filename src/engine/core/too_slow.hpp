// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// Beginning of a modelled device's remark that this machine is too slow for it.
inline constexpr std::string_view too_slow_for_its_clock = "This machine is too slow for its clock";

/// Its words on what helps; a number and a full stop follow.
inline constexpr std::string_view larger_factor_would_do = "name it with a larger factor, as @";

/// The factor that such a remark names; 0 if it names none.
inline unsigned advised_factor(std::string_view remark) noexcept {
  unsigned factor = 0;
  if (auto const at = remark.find(larger_factor_would_do); at != std::string_view::npos)
    std::from_chars(remark.data() + at + larger_factor_would_do.size(), remark.data() + remark.size(), factor);
  return factor;
}

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
