// SPDX-License-Identifier: Apache-2.0
#include "programs/command/commands.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <exception>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "penstock/error.hpp"
#include "programs/command/completion.hpp"
#include "programs/command/config_file.hpp"
#include "programs/command/help_text.hpp"
#include "programs/command/manual.hpp"
#include "programs/command/misuse.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

/// Opens standard descriptors that are closed, for reading where programs write and for writing where they read:
/// otherwise the next file to be opened would get the number, and pass for standard input or output.
void take_closed_descriptors() {
  for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // The system gives out the lowest free number.
    static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

int complain(std::string const& sentence, int code) {
  tell(sentence);
  return code;
}

/// Options that take a yes or a no meant yes without a word in older versions: adds the word, and says so. The words
/// from the third on are for `command`.
void add_missing_yes(CLI::App& command, std::vector<char*>& words) {
  static char yes[] = "yes";
  bool const takes_others =
      std::ranges::any_of(command.get_options(), [](CLI::Option const* option) { return option->get_positional(); });
  for (std::size_t i = 2; i < words.size() && std::string_view(words[i]) != "--"; ++i) {
    std::string const name = words[i];
    CLI::Option* const option = name.starts_with("--") ? command.get_option_no_throw(name) : nullptr;
    if (option == nullptr || offered_values(*option) != std::vector<std::string>{"yes", "no"}) continue;
    std::string_view const next = i + 1 < words.size() ? words[i + 1] : "-";
    bool const is_word = next == "yes" || next == "no";
    if (!next.starts_with('-') && (is_word || !takes_others)) continue;
    tell(std::string(name)
             .append(" is now written ")
             .append(name)
             .append(" yes; a later version refuses it without a word."));
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, yes);
  }
}

}  // namespace

int complain(std::exception const& exception) {
  Complaint const complaint = complaint_about(exception);
  return complain(complaint.sentence, complaint.code);
}

Commands::Commands(std::string const& sentence, std::string const& name, std::string const& version)
    : app_(sentence, name) {
  app_.set_version_flag("-V,--version", version);
  app_.require_subcommand(1);
  app_.formatter(std::make_shared<HelpText>(exit_meanings[exit_some_failed].words));
  app_.footer("`" + name + " help COMMAND` and `" + name + " COMMAND --help` have the options of a command.");
  app_.add_option_function<std::string>("--write-manual",
                                        [this](std::string const& folder) {
                                          write_manual(app_, folder);
                                          throw CLI::Success();
                                        })
      ->group("");
}

std::vector<Commands::One>::const_iterator Commands::asked_for() const {
  return std::find_if(all_.begin(), all_.end(), [](One const& one) { return one.app->parsed(); });
}

/// Listens to signals while the command runs.
int Commands::run(One const& command, StandardOutput& output) {
  if (!output.probe()) return exit_some_failed;
  Interrupt const interrupt(output);
  try {
    return command.run(output, interrupt);
  } catch (std::exception const& exception) {
    int const code = complain(exception);
    return interrupt.requested() && code == exit_device ? exit_interrupted : code;
  }
}

/// " (penstock bench --help shows what there is)".
std::string Commands::shows_what_there_is(std::string const& command) const {
  return " (" + app_.get_name() + ' ' + command + (command.empty() ? "" : " ") + "--help shows what there is)";
}

/// "hash, doctor or bench".
std::string Commands::names() const {
  std::string text;
  for (std::size_t i = 0; i < all_.size(); ++i)
    text += (i == 0 ? "" : i + 1 < all_.size() ? ", " : " or ") + all_[i].app->get_name();
  return text;
}

std::string Commands::no_command(std::string const& word) const {
  if (std::ranges::find(lacking_, word) != lacking_.end())
    return "This build lacks the command '" + word + "': " + remedy_;
  std::string const kind = word.starts_with('-') ? "option" : "command";
  return "There is no " + kind + " '" + word + "'" + suggestion_for(word, app_) + shows_what_there_is("");
}

int Commands::run(int count, char** arguments) {
  take_closed_descriptors();
  // The library's messages also begin with the program's name, unless the program has its own hook.
  MessageHook const before = set_message_hook(&tell);
  if (before != &write_to_standard_error) set_message_hook(before);
  // A file that may not grow further then makes the write fail, which is reported.
  std::signal(SIGXFSZ, SIG_IGN);
  StandardOutput output;
  std::vector<char*> words(arguments, arguments + count);
  std::string asks_for_help = "--help";
  // `penstock help bench` is `penstock bench --help`.
  if (count > 1 && std::string_view(words[1]) == "help") {
    auto const named = [&](One const& one) { return one.app->get_name() == words[2]; };
    if (count > 2 && std::ranges::none_of(all_, named)) return complain(no_command(words[2]), exit_bad_options);
    if (count > 3) return complain("help takes one command" + shows_what_there_is(""), exit_bad_options);
    words.erase(words.begin() + 1);
    words.push_back(asks_for_help.data());
  }
  auto const first =
      std::ranges::find_if(all_, [&](One const& one) { return words.size() > 1 && one.app->get_name() == words[1]; });
  if (first != all_.end()) add_missing_yes(*first->app, words);
  try {
    app_.parse(static_cast<int>(words.size()), words.data());
    apply_config(*asked_for()->app);
  } catch (CLI::ParseError const& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream help;
      app_.exit(error, help, help);
      return output.write(help.str()) ? exit_ok : complain(output.complaint(), exit_some_failed);
    }
    auto const unknown = app_.remaining();
    auto const command = asked_for();
    bool const known = command != all_.end();
    if (!known && !unknown.empty()) return complain(no_command(unknown.front()), exit_bad_options);
    std::string const sentence = known ? misuse_text(error, *command->app) : "Name a command: " + names();
    return complain(sentence + shows_what_there_is(known ? command->app->get_name() : ""), exit_bad_options);
  }
  int code = run(*asked_for(), output);
  if (output.failed() && !(output.given_up() && code == exit_interrupted))
    code = complain(output.complaint(), exit_some_failed);
  return code;
}

}  // namespace penstock::cli
