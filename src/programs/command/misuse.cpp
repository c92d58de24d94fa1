// SPDX-License-Identifier: Apache-2.0
#include "programs/command/misuse.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "programs/command/help_text.hpp"

namespace penstock::cli {
namespace {

/// The names of the options of `command`, as they are written, or of its commands.
std::vector<std::string> known_names(CLI::App const& command, bool options) {
  std::vector<std::string> names;
  if (!options) {
    for (CLI::App const* const one : command.get_subcommands([](CLI::App const*) { return true; }))
      names.push_back(one->get_name());
    return names;
  }
  for (CLI::Option const* const option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// What to write instead: a known option that is near an unknown one, or `--input` before a file. Empty if neither
/// helps.
std::string remedy_of(std::string const& word, CLI::App const& command) {
  if (word.starts_with('-')) return suggestion_for(word, command);
  if (command.get_option_no_throw("--input") == nullptr) return {};
  return ": give a file by --input " + word;
}

/// The option whose name a message of CLI11 begins with; null if there is none.
CLI::Option const* option_of(std::string_view message, CLI::App const& command) {
  auto const of = [&](CLI::Option const* option) {
    std::string const name = option->get_name();
    return message.starts_with(name) && message.substr(name.size()).find_first_of(": ") == 0;
  };
  auto const all = command.get_options([](CLI::Option const*) { return true; });
  auto const found = std::ranges::find_if(all, of);
  return found == all.end() ? nullptr : *found;
}

std::string in_small(std::string const& sentence) {
  std::string text = sentence.substr(0, sentence.find('\n'));
  if (!text.empty()) text[0] = static_cast<char>(CLI::detail::to_lower(text.substr(0, 1))[0]);
  return text;
}

std::string on_number_of_values(std::string const& message, CLI::App const& command) {
  CLI::Option const* const option = option_of(message, command);
  if (option == nullptr) return message;
  std::string const name = option->get_name(), type = option->get_type_name();
  if (option->get_items_expected_max() == 0) return name + " takes no value: leave out what follows its '='";
  int const expected = option->get_items_expected_max();
  if (option->count() > static_cast<std::size_t>(expected))
    return name + " is there " + std::to_string(option->count()) + " times: name it once";
  std::string const values = expected == 1 ? "a value: write " : std::to_string(expected) + " values: write ";
  return name + " takes " + values + name + " " + type.substr(0, type.find(':'));
}

/// `message` is two names, with `between` in between.
std::string on_two(std::string const& message, std::string const& between, std::string const& words,
                   std::string const& remedy) {
  auto const at = message.find(between);
  if (at == std::string::npos) return message;
  return message.substr(0, at) + words + message.substr(at + between.size()) + remedy;
}

std::string on_missing(std::string const& message, CLI::App const& command) {
  CLI::Option const* const option = option_of(message, command);
  if (option == nullptr) return message;
  return option->get_name() + " is missing: " + in_small(option->get_description());
}

}  // namespace

std::string suggestion_for(std::string const& word, CLI::App const& command) {
  std::string const name = word.substr(0, word.find('='));
  std::string const nearest = nearest_to(name, known_names(command, name.starts_with("--")));
  return nearest.empty() ? "" : ": did you mean " + nearest + "?";
}

std::string misuse_text(CLI::ParseError const& error, CLI::App const& command) {
  std::string message = error.what();
  if (dynamic_cast<CLI::ExtrasError const*>(&error) != nullptr) {
    // CLI11 names what is left over backwards.
    auto const left = command.remaining();
    if (left.empty()) return message;
    std::string const& word = left.front();
    return (word.starts_with('-') ? word + " is no option of " + command.get_name()
                                  : "'" + word + "' was not expected") +
           remedy_of(word, command);
  }
  if (dynamic_cast<CLI::ArgumentMismatch const*>(&error) != nullptr) return on_number_of_values(message, command);
  if (dynamic_cast<CLI::ExcludesError const*>(&error) != nullptr)
    return on_two(message, " excludes ", " does not go with ", ": name one of them");
  if (dynamic_cast<CLI::RequiresError const*>(&error) != nullptr) return on_two(message, " requires ", " needs ", "");
  if (dynamic_cast<CLI::RequiredError const*>(&error) != nullptr) return on_missing(message, command);
  if (dynamic_cast<CLI::ConversionError const*>(&error) != nullptr) {
    // "Could not convert: --load = much"
    auto const colon = message.find(": "), equals = message.find(" = ");
    if (colon == std::string::npos || equals == std::string::npos) return message;
    CLI::Option const* const option = option_of(std::string_view(message).substr(colon + 2), command);
    std::string const name = message.substr(colon + 2, equals - colon - 2), value = message.substr(equals + 3);
    if (option != nullptr && option->get_items_expected_max() == 0)
      return name + " takes no value: leave out '=" + value + "'";
    return name + ": '" + value + "' is no value of it";
  }
  return message;
}

}  // namespace penstock::cli
