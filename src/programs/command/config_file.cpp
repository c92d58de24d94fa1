// SPDX-License-Identifier: Apache-2.0
#include "programs/command/config_file.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#ifdef PENSTOCK_WITH_TOML
#include <toml++/toml.h>
#endif

namespace penstock::cli {
namespace {

constexpr char const* option_name = "--config";

[[noreturn]] void refuse(std::string const& path, std::string const& what) {
  throw CLI::ConversionError(option_name + (" " + path) + ": " + what, CLI::ExitCodes::ConversionError);
}

#ifdef PENSTOCK_WITH_TOML

/// The value as the command line would have it; empty if it has nothing of that kind. A list is its elements with
/// commas.
std::optional<std::string> text_of(toml::node const& value) {
  if (auto const* const text = value.as_string()) return text->get();
  if (value.is_integer() || value.is_floating_point() || value.is_boolean()) {
    std::ostringstream text;
    value.visit([&](auto const& one) { text << one; });
    return text.str();
  }
  toml::array const* const list = value.as_array();
  if (list == nullptr) return std::nullopt;
  std::string all;
  for (toml::node const& one : *list) {
    auto const text = one.is_array() ? std::nullopt : text_of(one);
    if (!text) return std::nullopt;
    all += (all.empty() ? "" : ",") + *text;
  }
  return all;
}

/// Gives an option one value.
void set_value(CLI::Option& option, std::string const& path, std::string const& name, toml::node const& value) {
  auto const text = text_of(value);
  if (!text) refuse(path, name + ": give a text, a number, true or false, or a list of these");
  try {
    bool const is_flag = option.get_expected_min() == 0;
    option.add_result(is_flag ? option.get_flag_value(name, *text) : *text);
  } catch (CLI::ParseError const& error) {
    refuse(path, name + ": " + error.what());
  }
}

/// Sets one option, unless the command line has set it.
void set(CLI::App& command, std::string const& path, std::string const& name, toml::node const& value) {
  CLI::Option* const option = command.get_option_no_throw("--" + name);
  if (option == nullptr || "--" + name == option_name || name == "help") {
    refuse(path, "'" + name + "' is no option of '" + command.get_name() + "': leave it out, or correct it");
  }
  if (option->count() > 0) return;
  bool const takes_several = option->get_items_expected_max() > 1;
  if (toml::array const* const list = value.as_array(); list != nullptr && takes_several) {
    for (toml::node const& one : *list) set_value(*option, path, name, one);
  } else {
    set_value(*option, path, name, value);
  }
  try {
    option->run_callback();
  } catch (CLI::ParseError const& error) {
    refuse(path, name + ": " + error.what());
  }
}

/// False inside a number or a name, where a quote begins no string.
bool may_begin_a_string(std::string_view before) {
  constexpr std::string_view blank = " \t\r\n";
  while (!before.empty() && before.back() == '[') before.remove_suffix(1);
  if (before.empty() || (blank.find(before.back()) != std::string_view::npos) || before.back() == ',') return true;
  std::string_view const line = before.substr(before.rfind('\n') + 1);
  return line.find('=') == line.size() - 1;  // The '=' is the first of its line.
}

/// A place that toml++ 3.3 must not parse.
struct Unfit {
  std::size_t line = 0;
  std::string remedy;
};

/// The first character beyond ASCII outside of strings and comments, or behind a backslash: TOML does not allow it
/// there, and toml++ has undefined behaviour for some. Or the first name of many parts: toml++ recurses as deep as
/// there are parts.
std::optional<Unfit> find_unfit(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  constexpr std::string_view between_names = "=,[]{}";
  constexpr std::size_t most_parts = 32;
  std::string const ascii_alone = "put what is not ASCII into quotes, and not behind a backslash";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::size_t line = 1, dots = 0;
  bool comment = false;
  std::string_view closing;  // End of the string at this place; empty outside of strings.
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const now = text[at];
    if (now == '\n') {
      ++line;
      dots = 0;
      comment = false;
      if (closing.size() == 1) closing = {};
    } else if (comment || (now != '\\' && !closing.empty() && !text.substr(at).starts_with(closing))) {
      continue;
    } else if (!closing.empty()) {
      bool const escape = now == '\\';
      if (escape && closing.front() == '"') {
        auto const next = std::min(text.find_first_not_of(" \t\r\n", at + 1), text.size());
        if (next < text.size() && static_cast<unsigned char>(text[next]) > 0x7F) return Unfit{line, ascii_alone};
        if (at + 1 < text.size() && text[at + 1] != '\n') ++at;
      }
      if (escape) continue;
      at += closing.size() - 1;
      closing = {};
    } else if ((now == '"' || now == '\'') && may_begin_a_string(text.substr(0, at))) {
      bool const three = text.substr(at).starts_with(std::string(3, now));
      closing = text.substr(at, three ? 3 : 1);
      at += closing.size() - 1;
    } else if (now == '#') {
      comment = true;
    } else if (static_cast<unsigned char>(now) > 0x7F) {
      return Unfit{line, ascii_alone};
    } else if (between_names.find(now) != std::string_view::npos) {
      dots = 0;
    } else if (now == '.' && ++dots == most_parts) {
      return Unfit{line, "a name of so many parts is no option: leave it out"};
    }
  }
  return std::nullopt;
}

void apply_file(CLI::App& command, std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::string const content{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) refuse(path, "it cannot be read");
  if (auto const unfit = find_unfit(content))
    refuse(path, "line " + std::to_string(unfit->line) + ": " + unfit->remedy);
  toml::table file;
  try {
    file = toml::parse(content, path);
  } catch (toml::parse_error const& error) {
    std::ostringstream where;
    where << error.source().begin.line;
    refuse(path, "line " + where.str() + ": " + std::string(error.description()));
  }
  for (auto const& [name, value] : file) {
    if (!value.is_table()) set(command, path, std::string(name.str()), value);
  }
  toml::table const* const own = file[command.get_name()].as_table();
  if (own == nullptr) return;
  for (auto const& [name, value] : *own) set(command, path, std::string(name.str()), value);
}

#else

void apply_file(CLI::App&, std::string const& path) {
  refuse(path, "this build reads no TOML, since toml++ (libtomlplusplus-dev) was not there");
}

#endif

}  // namespace

void add_config_to(CLI::App& command, std::string& path) {
  command.add_option(option_name, path, "Read options from this TOML file; those of the command line prevail")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

void apply_config(CLI::App& command) {
  CLI::Option const* const config = command.get_option_no_throw(option_name);
  if (config != nullptr && config->count() > 0) apply_file(command, config->as<std::string>());
}

}  // namespace penstock::cli
