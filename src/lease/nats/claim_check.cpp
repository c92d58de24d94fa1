// SPDX-License-Identifier: Apache-2.0
#include "lease/nats/claim_check.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace penstock {

std::optional<LeaseWork> claim_check(std::string_view message) {
  auto const said = nlohmann::json::parse(message, nullptr, false);
  if (!said.is_object()) return std::nullopt;
  LeaseWork work;
  for (auto const& [name, value] : said.items()) {
    if (name == "path" && value.is_string()) {
      work.path = value.get<std::string>();
    } else if (name == "checksum" && value.is_string()) {
      work.checksum = value.get<std::string>();
    } else if (name == "offset" && value.is_number_unsigned()) {
      work.offset = value.get<std::uint64_t>();
    } else if (name == "length" && value.is_number_unsigned()) {
      work.length = value.get<std::uint64_t>();
    } else {
      return std::nullopt;  // It may say what to read in a way that is not known here.
    }
  }
  if (work.path.empty()) return std::nullopt;
  return work;
}

}  // namespace penstock
