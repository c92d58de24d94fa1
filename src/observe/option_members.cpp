// SPDX-License-Identifier: Apache-2.0
#include "observe/option_members.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "engine/core/number_text.hpp"
#include "observe/option_table.hpp"
#include "observe/verdict/advice.hpp"

namespace penstock {
namespace {

/// An assignment in C++. `value` has the form of a command's option.
std::string assignment(OptionRow const& row, std::string const& value) {
  std::string const to = row.member() + " = ";
  switch (row.kind) {
    case OptionKind::size:
      return "a tile of " + value;
    case OptionKind::time:
      return to + "std::chrono::microseconds(" + value + ")";
    case OptionKind::word:
      // This name is a keyword of C++.
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
    OptionRow const* row = name.starts_with("--") ? find_option(name.substr(is_no ? 5 : 2)) : nullptr;
    if (is_no && row != nullptr && row->off.empty()) row = nullptr;
    text += text.empty() ? "" : behind_option && row != nullptr ? ", " : " ";
    behind_option = row != nullptr;
    if (row != nullptr && (is_no || row->kind == OptionKind::yes_no)) {
      word = assignment(*row, is_no ? std::string(row->off) : "yes") + rest;
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

namespace {

constexpr char const* per_thread_library = "penstock::penstock instead of penstock::legacy";

/// Translates "tuning.slots = 8" to "--slots 8"; empty if this sets no option.
std::string option_for(std::string_view assigned) {
  for (OptionRow const& row : option_table()) {
    std::string const to = row.kind == OptionKind::size ? "a tile of " : row.member() + " = ";
    if (!assigned.starts_with(to)) continue;
    std::string const rest(assigned.substr(to.size()));
    std::size_t const end = std::min(rest.find(' '), rest.size());
    std::string value = rest.substr(0, end);
    std::string const behind = rest.substr(end);
    if (row.kind == OptionKind::yes_no) return "--" + std::string(row.name) + behind;
    // A name follows its enumeration, a time follows its unit.
    if (std::size_t const scope = value.rfind(':'); scope != std::string::npos) value.erase(0, scope + 1);
    if (row.kind == OptionKind::time) value = value.substr(value.find('(') + 1, value.rfind(')') - value.find('(') - 1);
    if (row.kind == OptionKind::word && value == "thread_default") value = "default";
    std::string option = "--";
    return option.append(row.name).append(" ").append(value).append(behind);
  }
  return "";
}

/// Writes "tuning.bind = Bind::node" as "--bind node", wherever that stands.
std::string words_in(std::string text) {
  for (OptionRow const& row : option_table()) {
    std::string const to = row.member() + " = " + std::string(row.enumeration) + "::";
    std::size_t const at = row.kind == OptionKind::word ? text.find(to) : std::string::npos;
    if (at != std::string::npos) text.replace(at, to.size(), "--" + std::string(row.name) + " ");
  }
  return text;
}

/// Translates each part between commas, if all of them set an option; otherwise returns the text itself.
std::string in_options_of(std::string const& change) {
  std::string text;
  for (std::size_t from = 0; from < change.size();) {
    std::size_t const to = std::min(change.find(", ", from), change.size());
    std::string const option = option_for(std::string_view(change).substr(from, to - from));
    if (option.empty()) return words_in(change);
    text += (text.empty() ? "" : " ") + option;
    from = to + 2;
  }
  return text;
}

}  // namespace

Verdict in_options(Verdict verdict) {
  for (Advice& advice : verdict.advice)
    advice.change = advice.change == per_thread_library ? per_thread_instead : in_options_of(advice.change);
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
