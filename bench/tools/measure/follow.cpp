// SPDX-License-Identifier: Apache-2.0
#include "follow.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <string_view>

namespace penstock::measure {
namespace {

constexpr std::array<std::string_view, 14> axes{"threads",   "lanes",  "consumers", "tile",    "depth",
                                                "batch",     "tiles",  "signal",    "streams", "shape",
                                                "transport", "graphs", "aim",       "sink"};

/// The axis that an option of a pipeline sets; empty if none does.
std::string_view axis_of(std::string_view option) {
  if (!option.starts_with("--")) return {};
  option.remove_prefix(2);
  if (option == "producers") return "threads";
  if (option == "slots") return "depth";
  auto const* const found = std::find(axes.begin(), axes.end(), option);
  return found == axes.end() ? std::string_view() : *found;
}

}  // namespace

std::optional<Setting> follow(Setting const& setting, Advice const& advice) {
  Setting followed = setting;
  std::istringstream words(advice.change);
  std::string option, value;
  bool any = false;
  // What comes behind the options says what else belongs to them.
  while (words >> option && option.starts_with("--") && words >> value) {
    std::string_view const axis = axis_of(option);
    if (axis.empty()) return std::nullopt;
    set(followed, axis, value);
    any = true;
  }
  if (!any) return std::nullopt;
  return followed;
}

}  // namespace penstock::measure
