// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace penstock::cli {

/// Null for what is not known: an empty text.
inline nlohmann::ordered_json or_null(std::string const& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

/// Null for what is not known: a value that is not there.
template <class Value>
nlohmann::ordered_json or_null(std::optional<Value> const& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace penstock::cli
