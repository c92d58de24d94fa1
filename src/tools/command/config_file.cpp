// SPDX-License-Identifier: Apache-2.0
#include "tools/command/config_file.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace penstock::cli {
namespace {

constexpr char const* option_name = "--config";

[[noreturn]] void refuse(std::string const& path, std::string const& what) {
  throw CLI::ConversionError(option_name + (" " + path) + ": " + what, CLI::ExitCodes::ConversionError);
}

bool is_of_another(CLI::ConfigItem const& item, CLI::App const& command) {
  return !item.parents.empty() && (item.parents.size() > 1 || item.parents[0] != command.get_name());
}

void set(CLI::Option& option, CLI::ConfigItem const& item) {
  if (option.get_expected_min() == 0) {  // A flag.
    option.add_result(option.get_flag_value(item.name, item.inputs.empty() ? "true" : item.inputs.front()));
  } else {
    option.add_result(item.inputs);
  }
  option.run_callback();
}

}  // namespace

void add_config_to(CLI::App& command) {
  command.add_option(option_name, "Read options from this TOML file; those of the command line prevail")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

void apply_config(CLI::App& command) {
  CLI::Option const* const config = command.get_option_no_throw(option_name);
  if (config == nullptr || config->count() == 0) return;
  auto const path = config->as<std::string>();
  std::ifstream file(path);
  if (!file) refuse(path, "cannot be read: give a file that you may read.");
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(file);
  } catch (CLI::ParseError const& error) {
    refuse(path, error.what());
  }
  for (CLI::ConfigItem const& item : items) {
    if (item.name == "++" || item.name == "--" || is_of_another(item, command)) continue;  // A table's begin and end.
    CLI::Option* const option = command.get_option_no_throw("--" + item.name);
    if (option == nullptr || option == config || item.name == "help") {
      refuse(path, "there is no option '" + item.name + "' (" + command.get_name() + " --help shows what there is)");
    }
    if (option->count() > 0) continue;
    try {
      set(*option, item);
    } catch (CLI::ParseError const& error) {
      refuse(path, item.name + ": " + error.what());
    }
  }
}

}  // namespace penstock::cli
