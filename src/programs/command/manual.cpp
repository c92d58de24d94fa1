// SPDX-License-Identifier: Apache-2.0
#include "programs/command/manual.hpp"

#include <cctype>
#include <ostream>
#include <vector>

#include "engine/machine/output_file.hpp"
#include "programs/command/completion.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/help_text.hpp"

namespace penstock::cli {
namespace {

std::vector<CLI::App const*> commands_of(CLI::App const& program) {
  return program.get_subcommands([](CLI::App const*) { return true; });
}

/// Options of a group; none if `group` is hidden.
std::vector<CLI::Option const*> options_of(CLI::App const& command, std::string const& group, bool positional) {
  return command.get_options([&](CLI::Option const* option) {
    return !group.empty() && option->get_group() == group && option->get_positional() == positional;
  });
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + roff(text) + "\\fR";
}

/// Filled lines of `text`; one that begins with a space begins a line of the page, too.
std::string paragraph(std::string const& text) {
  std::string lines;
  for (std::string line : CLI::detail::split(text, '\n')) {
    if (line.starts_with(' ')) lines += ".br\n";
    CLI::detail::trim(line);
    if (!line.empty()) lines += roff(line) + "\n";
  }
  return lines;
}

/// A sentence behind the dash of NAME begins with a small letter, and has no full stop. An acronym stays.
std::string in_one_line(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string in_capitals(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

std::string as_sentence(std::string const& text) {
  return text.empty() || text.ends_with('.') ? text : text + ".";
}

/// A name such as penstock-hash.
std::string page_name(CLI::App const& program, CLI::App const& command) {
  return &program == &command ? program.get_name() : program.get_name() + "-" + command.get_name();
}

bool takes_many(CLI::Option const& option) {
  return option.get_expected_max() == CLI::detail::expected_max_vector_size;
}

std::string tag_of(CLI::Option const& option) {
  if (option.get_positional()) return italic(option.get_name(true)) + (takes_many(option) ? "..." : "");
  std::vector<std::string> names;
  for (std::string const& name : option.get_snames()) names.push_back(bold("-" + name));
  for (std::string const& name : option.get_lnames()) names.push_back(bold("--" + name));
  std::string tag = CLI::detail::join(names, ", ");
  if (option.get_items_expected_max() > 0) tag += " " + italic(value_name(option));
  return tag;
}

std::string entry_of(CLI::Option const& option) {
  return ".TP\n" + tag_of(option) + "\n" + paragraph(as_sentence(option.get_description()) + with_others(option));
}

std::string synopsis(CLI::App const& program, CLI::App const& command) {
  if (&program == &command) {
    return bold(program.get_name()) + " " + italic("COMMAND") + " [" + italic("OPTION") + "]...\n";
  }
  std::string line = bold(program.get_name() + " " + command.get_name()) + " [" + italic("OPTION") + "]...";
  for (std::string const& group : command.get_groups()) {
    for (CLI::Option const* const option : options_of(command, group, true)) {
      std::string const name = italic(option->get_name(true));
      line += " " + (option->get_required() ? name : "[" + name + "]") + (takes_many(*option) ? "..." : "");
    }
  }
  return line + "\n";
}

std::string options_section(CLI::App const& command) {
  std::string section = ".SH OPTIONS\n";
  std::vector<std::string> groups;
  for (std::string const& group : command.get_groups()) {
    for (CLI::Option const* const option : options_of(command, group, true)) section += entry_of(*option);
    if (!options_of(command, group, false).empty()) groups.push_back(group);
  }
  for (std::string const& group : groups) {
    if (groups.size() > 1) section += ".SS " + roff(group) + "\n";
    for (CLI::Option const* const option : options_of(command, group, false)) section += entry_of(*option);
  }
  return section;
}

std::string see_also(CLI::App const& program, CLI::App const& command) {
  std::vector<std::string> pages;
  if (&program != &command) pages.push_back(bold(page_name(program, program)) + "(1)");
  for (CLI::App const* const other : commands_of(program)) {
    if (other != &command) pages.push_back(bold(page_name(program, *other)) + "(1)");
  }
  return ".SH SEE ALSO\n" + CLI::detail::join(pages, ",\n") +
         "\n.PP\nThe folder share/doc/penstock/docs/commands has a page on each command, with examples.\n";
}

void write_file(std::filesystem::path const& path, std::string const& text) {
  OutputFile(path.string()).write("the manual", [&](std::ostream& out) { out << text; });
}

}  // namespace

std::string roff(std::string_view text) {
  // A request of roff begins with one of these two. The second is written as an escape, which is not a request.
  std::string escaped = text.starts_with('.') ? "\\&" : "";
  for (char const letter : text) {
    switch (letter) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

std::string manual_page(CLI::App const& program, CLI::App const& command) {
  bool const whole = &program == &command;
  std::string title = page_name(program, command);
  // There is no date: the same sources make the same page on every day. No word is divided, for most of them are names.
  std::string page = ".TH " + roff(in_capitals(title)) + " 1 \"\" \"" + roff(program.get_name()) + " " +
                     roff(PENSTOCK_VERSION) + "\" \"User Commands\"\n.nh\n";
  page += ".SH NAME\n" + roff(title) + " \\- " + roff(in_one_line(command.get_description())) + "\n";
  page += ".SH SYNOPSIS\n" + synopsis(program, command);
  page += ".SH DESCRIPTION\n" + paragraph(as_sentence(command.get_description()));
  if (whole) {
    page += ".SH COMMANDS\n";
    for (CLI::App const* const one : commands_of(program)) {
      page += ".TP\n" + bold(one->get_name()) + "\n" + paragraph(as_sentence(one->get_description())) + "See " +
              bold(page_name(program, *one)) + "(1).\n";
    }
  }
  page += options_section(command);
  if (std::string const examples = HelpText::examples_of(command); !examples.empty()) {
    page += ".SH EXAMPLES\n.nf\n";
    for (std::string const& line : CLI::detail::split(examples, '\n'))
      if (!line.empty()) page += roff(line) + "\n";
    page += ".fi\n";
  }
  page += ".SH EXIT STATUS\n";
  for (ExitMeaning const& one : exit_meanings) {
    page += ".TP\n" + bold(std::to_string(one.code)) + "\n" +
            paragraph(as_sentence(one.code == exit_some_failed ? HelpText::some_failed_of(command) : one.words));
  }
  if (command.get_footer() != program.get_footer()) page += ".SH NOTES\n" + paragraph(command.get_footer());
  return page + see_also(program, command);
}

void write_manual(CLI::App& program, std::filesystem::path const& folder) {
  auto const pages = folder / "man" / "man1", completions = folder / "bash-completion" / "completions";
  create_directories(pages);
  create_directories(completions);
  auto all = commands_of(program);
  all.insert(all.begin(), &program);
  for (CLI::App const* const one : all)
    write_file(pages / (page_name(program, *one) + ".1"), manual_page(program, *one));
  write_file(completions / program.get_name(), bash_completion(program));
}

}  // namespace penstock::cli
