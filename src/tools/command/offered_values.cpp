// SPDX-License-Identifier: Apache-2.0
#include "tools/command/offered_values.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace penstock::cli {
namespace {

/// Of "{split,single}", as CLI::IsMember describes itself; empty if `text` is no such list.
std::vector<std::string> members(std::string text) {
  if (!text.starts_with('{') || !text.ends_with('}')) return {};
  std::replace_if(
      text.begin(), text.end(), [](char letter) { return letter == ',' || letter == '{' || letter == '}'; }, ' ');
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

CLI::Validator offers(std::string const& names) {
  // Its name is the one text of a validator that --help leaves out.
  return {[](std::string&) { return std::string(); }, "", "{" + names + "}"};
}

std::vector<std::string> offered_values(CLI::Option& option) {
  try {
    for (int number = 0;; ++number) {
      CLI::Validator const& validator = *option.get_validator(number);
      for (std::string const& text : {validator.get_name(), validator.get_description()}) {
        if (auto all = members(text); !all.empty()) return all;
      }
    }
  } catch (CLI::OptionNotFound const&) {
    return {};  // So CLI11 says that there are no more.
  }
}

}  // namespace penstock::cli
