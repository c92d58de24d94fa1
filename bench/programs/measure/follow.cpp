// SPDX-License-Identifier: Apache-2.0
#include "follow.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

namespace penstock::measure {
namespace {

/// The axis that an option of a pipeline sets; empty if none does.
std::string_view axis_of(std::string_view option) {
  if (!option.starts_with("--")) return {};
  auto const& kinds = axis_kinds();
  auto const found = std::ranges::find(kinds, option.substr(2), &AxisKind::name);
  return found == kinds.end() ? std::string_view() : found->name;
}

}  // namespace

std::optional<Setting> follow(Setting const& setting, Advice const& advice) {
  Setting followed = setting;
  std::istringstream words(advice.change);
  std::string option, value;
  bool any = false;
  // The words behind the options say what else belongs to them.
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
