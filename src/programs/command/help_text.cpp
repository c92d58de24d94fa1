// SPDX-License-Identifier: Apache-2.0
#include "programs/command/help_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "programs/command/ending.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

constexpr std::size_t columns = 100;
/// Indent of the lines that say what an exit code means.
constexpr std::size_t code_indent = 7;

std::string without_breaks(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// `name`, and behind it `words` in lines of their own width.
std::string row(std::string const& name, std::string const& words, std::size_t width) {
  std::string const lines = wrapped(without_breaks(words), width, columns);
  if (lines.empty()) return name + "\n";
  // A name that leaves no room has a line of its own.
  if (name.size() >= width) return name + "\n" + lines;
  return name + lines.substr(name.size());
}

/// Number of letters to add, to drop or to change, or of neighbours to swap, to make one of the other.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::vector<std::size_t>> all(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = 0; i <= one.size(); ++i) {
    for (std::size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        all[i][j] = i + j;
        continue;
      }
      std::size_t const changed = all[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      all[i][j] = std::min({changed, all[i - 1][j] + 1, all[i][j - 1] + 1});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        all[i][j] = std::min(all[i][j], all[i - 2][j - 2] + 1);
    }
  }
  return all[one.size()][other.size()];
}

}  // namespace

std::string HelpText::some_failed_of(CLI::App const& command) {
  auto const* const help = dynamic_cast<HelpText const*>(command.get_formatter().get());
  return help != nullptr ? help->some_failed_ : exit_meanings[exit_some_failed].words;
}

std::string HelpText::examples_of(CLI::App const& command) {
  auto const* const help = dynamic_cast<HelpText const*>(command.get_formatter().get());
  return help != nullptr ? help->examples_ : "";
}

std::string HelpText::make_help(CLI::App const* command, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(command, std::move(name), mode);
  // Parts that a command lacks leave empty lines behind.
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string HelpText::make_option(CLI::Option const* option, bool is_positional) const {
  std::string name = "  " + make_option_name(option, is_positional), words = make_option_desc(option);
  if (option->get_items_expected_max() > 0 && !value_name(*option).empty()) name += " " + value_name(*option);
  bool const many = option->get_expected_max() == CLI::detail::expected_max_vector_size;
  if (many) name += is_positional ? "..." : " ...";
  std::string const others = with_others(*option);
  if (!others.empty() && !words.ends_with('.')) words += '.';
  return row(name, words + others, get_column_width());
}

std::string HelpText::make_subcommand(CLI::App const* command) const {
  return row("  " + command->get_name(), command->get_description(), get_column_width());
}

std::string HelpText::make_footer(CLI::App const* command) const {
  std::string text = "\n" + wrapped(without_breaks(command->get_footer()), 0, columns);
  if (text.size() > 1) text += '\n';
  if (!examples_.empty()) {
    text += "Examples:\n";
    for (std::string const& line : CLI::detail::split(examples_, '\n'))
      if (!line.empty()) text += "  " + line + "\n";
    text += '\n';
  }
  text += "Exit codes:\n";
  for (ExitMeaning const& one : exit_meanings) {
    std::string lines = wrapped(one.code == exit_some_failed ? some_failed_ : one.words, code_indent, columns);
    std::string const code = std::to_string(one.code);
    text += lines.replace(2, code.size(), code);
  }
  return text;
}

void group_options(CLI::App& command) {
  constexpr std::size_t few = 14;
  struct Group {
    char const* name;
    std::span<std::string_view const> options;
  };
  static constexpr auto pipeline = std::to_array<std::string_view>(
      {"producers", "lanes", "consumers", "tile",      "slots",   "batch",     "tiles",    "memory",
       "spin",      "aim",   "signal",    "shape",     "streams", "transport", "graphs",   "spare",
       "ordered",   "bind",  "sink",      "attribute", "profile", "no-bind",   "priority", "run-to-completion"});
  static constexpr auto devices = std::to_array<std::string_view>({"device", "slower"});
  static constexpr auto measuring =
      std::to_array<std::string_view>({"repeats", "window", "load", "within", "one-process", "no-ceilings", "case",
                                       "for", "expect", "no-verdict", "no-digests", "no-trace-cost"});
  static constexpr auto outputs =
      std::to_array<std::string_view>({"json", "csv", "html", "trace", "trace-every", "trace-with", "nvtx", "save",
                                       "logs", "no-progress", "limit", "stats-every", "metrics"});
  auto const all = command.get_options([](CLI::Option const* option) { return !option->get_group().empty(); });
  if (all.size() < few) return;
  for (Group const& group : {Group{"Devices", devices}, Group{"Pipeline", pipeline}, Group{"Measuring", measuring},
                             Group{"Output", outputs}}) {
    for (std::string_view const name : group.options) {
      CLI::Option* const option = command.get_option_no_throw("--" + std::string(name));
      if (option != nullptr && option->get_group() == "Options") option->group(group.name);
    }
  }
}

std::string value_name(CLI::Option const& option) {
  std::string const type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string with_others(CLI::Option const& option) {
  std::string text;
  for (auto const& [words, others] :
       {std::pair{" Needs ", option.get_needs()}, std::pair{" Not with ", option.get_excludes()}}) {
    // CLI11 has them in the order of addresses.
    std::set<std::string> names;
    for (CLI::Option const* const other : others) names.insert(other->get_name());
    if (!names.empty()) text += words + CLI::detail::join(names, ", ") + ".";
  }
  return text;
}

std::string nearest_to(std::string_view word, std::vector<std::string> const& known) {
  // More changes than that make another word of a short one.
  std::size_t least = std::min<std::size_t>(word.size() / 3, 2) + 1;
  std::string nearest;
  for (std::string const& one : known) {
    std::size_t const far = distance(word, one);
    if (far < least) {
      least = far;
      nearest = one;
    }
  }
  return nearest;
}

}  // namespace penstock::cli
