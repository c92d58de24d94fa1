// SPDX-License-Identifier: Apache-2.0
// Any bytes are a file of options or are refused with a sentence of the parser's.
#include <string>
#include <vector>

#include "fuzz/harness.hpp"

#include "programs/command/config_file.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  static Folder const folder;
  folder.write("options.toml", input);
  CLI::App app("a program", "program");
  int number = 0;
  bool flag = false;
  std::string text;
  std::vector<int> list;
  app.add_option("--number", number)->check(CLI::Range(0, 1000));
  app.add_flag("--flag", flag);
  app.add_option("--text", text);
  app.add_option("--list", list)->delimiter(',');
  std::string config;
  cli::add_config_to(app, config);
  try {
    app.parse("--config " + folder.path() + "/options.toml");
    cli::apply_config(app);
  } catch (CLI::ParseError const& error) {
    require(std::string_view(error.what()).starts_with("--config "), "a refusal says that it is of the file");
    return;
  }
  require(number >= 0 && number <= 1000, "a value is one that the command line could have");
}

}  // namespace penstock::fuzz
