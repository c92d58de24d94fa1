// SPDX-License-Identifier: Apache-2.0
#include "programs/command/completion.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

namespace penstock::cli {
namespace {

/// Elements of "{split,single}", as CLI::IsMember describes itself; empty if `text` is no such list.
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
    return {};  // CLI11 says by this that there are no more.
  }
}

namespace {

/// Splits the command line into its words.
constexpr char const* beginning = R"(  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' words='' listed word
  COMPREPLY=()
  # Readline makes three words of --option=value.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

/// Completes the last value of a list as in split,si.
constexpr char const* end = R"(  listed=${current%"${current##*,}"}
  mapfile -t COMPREPLY < <(compgen -P "$listed" -W "$words" -- "${current##*,}")
)";

using Words = std::vector<std::string>;

std::string joined(Words const& words, char const* between) {
  return CLI::detail::join(words, between);
}

/// The pattern for a command and a word.
std::string line(std::string const& command, std::string const& word) {
  return "'" + command + " " + word + "'";
}

/// A branch of a case: for a line that matches, these words are offered, or file names, if there are none.
std::string branch(std::string const& pattern, Words const& words) {
  return pattern + ")" + (words.empty() ? " return" : " words='" + joined(words, " ") + "'") + " ;;\n";
}

/// The branches for one command, or for a line without one, if `command` is empty.
struct Branches {
  std::string for_values;  ///< Patterns of the command and the word before.
  std::string for_others;  ///< Patterns of the command and the word that is completed.

  Branches(CLI::App& app, std::string const& command) {
    Words options, names_of_files, firsts;
    for (CLI::App const* const one : app.get_subcommands([](CLI::App*) { return true; }))
      firsts.push_back(one->get_name());
    for (CLI::Option* const option : app.get_options([](CLI::Option* one) { return !one->get_group().empty(); })) {
      Words patterns, values = offered_values(*option);
      auto const add = [&](std::string const& dashed) {
        options.push_back(dashed);
        patterns.push_back(line(command, dashed));
      };
      for (std::string const& name : option->get_snames()) add("-" + name);
      for (std::string const& name : option->get_lnames()) add("--" + name);
      if (option->get_positional()) firsts.insert(firsts.end(), values.begin(), values.end());
      if (patterns.empty() || option->get_items_expected_max() == 0) continue;
      if (values.empty()) {
        names_of_files.push_back(joined(patterns, " | "));
      } else {
        for_values += "    " + branch(joined(patterns, " | "), values);
      }
    }
    if (!names_of_files.empty()) for_values += "    " + branch(joined(names_of_files, " | "), {});
    for_others =
        "        " + branch(line(command, "-") + "*", options) + "        " + branch(line(command, "") + "*", firsts);
  }
};

}  // namespace

std::string bash_completion(CLI::App& program) {
  Words names;
  Branches all(program, "");
  for (CLI::App* const command : program.get_subcommands([](CLI::App*) { return true; })) {
    names.push_back(command->get_name());
    Branches const its(*command, names.back());
    all.for_values += its.for_values;
    all.for_others += its.for_others;
  }
  std::string const name = program.get_name();
  std::string function = "_" + name;
  for (char& letter : function) {
    if (letter == '-') letter = '_';
  }
  std::string script =
      "# Completion for bash; `" + name + " --write-manual` wrote it.\n" + function + "() {\n" + beginning;
  if (!names.empty()) {
    script += "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case $word in\n      " +
              joined(names, " | ") + ")\n        command=$word\n        break\n        ;;\n    esac\n  done\n";
  }
  return script + "  case \"$command $previous\" in\n" + all.for_values +
         "    *)\n      case \"$command $current\" in\n" + all.for_others + "      esac\n      ;;\n  esac\n" + end +
         "}\ncomplete -o default -F " + function + " " + name + "\n";
}

}  // namespace penstock::cli
