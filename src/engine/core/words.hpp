// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock {

/// The words by which users know the values of an enumeration, each by its to_string, as a text lists them: "split,
/// single".
template <class Value, std::size_t count>
std::string words_for(std::array<Value, count> const& all) {
  std::string words;
  for (Value const one : all) {
    if (!words.empty()) words += ", ";
    words += to_string(one);
  }
  return words;
}

/// The value of that word; empty if there is none.
template <class Value, std::size_t count>
std::optional<Value> find_word(std::array<Value, count> const& all, std::string_view word) {
  for (Value const one : all) {
    if (to_string(one) == word) return one;
  }
  return std::nullopt;
}

/// The value of that word. `kind` says what they are: "shape".
///
/// Throws: Error of kind bad_argument, which names them all.
template <class Value, std::size_t count>
Value parse_word(std::array<Value, count> const& all, std::string_view word, std::string_view kind) {
  if (auto const found = find_word(all, word)) return *found;
  throw Error(ErrorKind::bad_argument,
              "There is no " + std::string(kind) + " '" + std::string(word) + "': choose from " + words_for(all) + ".");
}

}  // namespace penstock
