// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/option_members.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "penstock/core/number_text.hpp"
#include "penstock/flow/option_table.hpp"
#include "penstock/report/advice.hpp"

namespace penstock {
namespace {

/// `value` is as a command takes it.
std::string assignment(OptionRow const& row, std::string const& value) {
  std::string const to = row.member() + " = ";
  switch (row.kind) {
    case OptionKind::size:
      return "a tile of " + value;
    case OptionKind::time:
      return to + "std::chrono::microseconds(" + value + ")";
    case OptionKind::word:
      // The one word that is a keyword of C++.
      return to + std::string(row.enumeration) + "::" + (value == "default" ? "thread_default" : value);
    case OptionKind::yes_no:
      return to + (value == "yes" ? "true" : "false");
    case OptionKind::bytes:
      return to + std::to_string(parse_size(value));
    case OptionKind::count:
      break;
  }
  return to + value;
}

}  // namespace

std::string in_members(std::string_view change) {
  std::istringstream words{std::string(change)};
  std::string text, word, value;
  bool behind_option = false;
  while (words >> word) {
    bool const is_no = word.starts_with("--no-");
    std::string_view const name = std::string_view(word).substr(0, word.find(';'));
    std::string const rest = word.substr(name.size());
    OptionRow const* const row = name.starts_with("--") ? find_option(name.substr(is_no ? 5 : 2)) : nullptr;
    text += text.empty() ? "" : behind_option && row != nullptr ? ", " : " ";
    behind_option = row != nullptr;
    if (row != nullptr && row->kind == OptionKind::yes_no) {
      word = assignment(*row, is_no ? "no" : "yes") + rest;
    } else if (row != nullptr && words >> value) {
      word = assignment(*row, value);
    }
    text += word;
  }
  return text;
}

Verdict in_members(Verdict verdict) {
  for (Advice& advice : verdict.advice) {
    advice.change = advice.change == per_thread_instead ? "penstock::penstock instead of penstock::legacy"
                                                        : in_members(advice.change);
  }
  return verdict;
}

std::string in_options(std::string_view sentence) {
  std::string text;
  for (bool quoted = false;; quoted = !quoted) {
    std::size_t const end = std::min(sentence.find('`'), sentence.size());
    std::string name(sentence.substr(0, end));
    std::ranges::replace(name, '_', '-');
    bool const closed = end != sentence.size();
    if (quoted && closed && find_option(name) != nullptr) {
      text += "--" + name;
    } else {
      text.append(quoted ? "`" : "").append(sentence.substr(0, end)).append(quoted && closed ? "`" : "");
    }
    if (!closed) return text;
    sentence.remove_prefix(end + 1);
  }
}

}  // namespace penstock
