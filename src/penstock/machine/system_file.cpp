// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/system_file.hpp"

#include <charconv>
#include <fstream>
#include <iterator>

namespace penstock {

std::optional<std::string> read_system_file(std::filesystem::path const& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return std::nullopt;
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text;
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace penstock
