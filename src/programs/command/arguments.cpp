// SPDX-License-Identifier: Apache-2.0
#include "programs/command/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/core/number_text.hpp"
#include "penstock/observe.hpp"
#include "programs/command/completion.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

/// Empty if `text` is no number, or not a finite one: CLI11 takes "nan" to lie in every range.
std::optional<double> finite(std::string const& text) {
  double number = 0;
  bool const read = CLI::detail::lexical_cast(text, number);
  return read && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

constexpr std::uint64_t most_slower = 10'000;

/// The number in as few digits as people would write.
std::string plain(double number) {
  char text[32];
  auto const [end, problem] = std::to_chars(std::begin(text), std::end(text), number, std::chars_format::fixed);
  return {std::begin(text), end};
}

CLI::Validator takes(std::function<bool(std::string const&)> good, std::string const& what) {
  return {[good = std::move(good), what](std::string& text) -> std::string {
            return good(text) ? "" : "'" + text + "' is not " + what;
          },
          ""};
}

/// Takes "yes" or "no", also in the forms of a file of options.
CLI::Validator yes_or_no() {
  return {[](std::string& text) -> std::string {
            if (text == "true") text = "yes";
            if (text == "false") text = "no";
            return text == "yes" || text == "no" ? "" : "'" + text + "' is neither: give yes or no";
          },
          ""};
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return takes(
      [least, most](std::string const& text) {
        auto const number = whole_number_of(text, most);
        return number && *number >= least;
      },
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

CLI::Validator number_between(double least, double most, std::string const& what) {
  return takes(
      [least, most](std::string const& text) {
        auto const number = finite(text);
        return number && *number >= least && *number <= most;
      },
      what + " from " + plain(least) + " to " + plain(most));
}

CLI::Validator number_above_zero(std::string const& what, std::string const& example) {
  return takes(
      [](std::string const& text) {
        auto const number = finite(text);
        return number && *number > 0;
      },
      what + " above 0, as in " + example);
}

CLI::Validator names_a_file() {
  return {[](std::string& path) -> std::string { return path.empty() ? "'' names no file: give it a name" : ""; }, ""};
}

CLI::Validator names_an_output() {
  return {[](std::string& path) -> std::string {
            if (path.empty()) return "'' names no file: give it a name";
            if (path == "-") return "'-' names no file: name one, as ./-, or /dev/stdout for standard output";
            return "";
          },
          ""};
}

ProfiledMachine machine_of_results(std::string const& results) {
  auto const json = nlohmann::json::parse(results);
  return {.cpu = json.at("machine").at("cpu").get<std::string>(),
          .cpus = json.at("machine").at("cpus").get<std::uint64_t>(),
          .device = json.at("device").at("name").get<std::string>()};
}

bool is_named(CLI::App const& command, std::string_view option) {
  auto const count = [&](std::string_view name) {
    auto const* const found = command.get_option_no_throw("--" + std::string(name));
    return found == nullptr ? 0 : found->count();
  };
  OptionRow const* const row = find_option(option);
  return count(option) + (row != nullptr && !row->former.empty() ? count(row->former) : 0) > 0;
}

bool follows_from_named(CLI::App const& command, OptionRow const& row) {
  return std::ranges::any_of(option_table(), [&](OptionRow const& other) {
    return row.follows_from(other.name) && is_named(command, other.name);
  });
}

void add_former_name(CLI::App& command, OptionRow const& row, std::string& value) {
  if (!row.former.empty()) command.add_option("--" + std::string(row.former), value)->group("");
}

void add_former_option(CLI::App& command, std::string const& former, CLI::Option& now) {
  auto const take = [former, &now](std::string const& value) {
    tell(former + " is now " + now.get_name() + "; a later version takes only that.");
    now.add_result(value);
    now.run_callback();
  };
  command.add_option_function<std::string>(former, take)->group("");
}

void SlowerOption::add_to(CLI::App& command) {
  command
      .add_option("--slower", factor,
                  "With model:NAME: how many seconds of this machine one of the model takes, from 2 to 10000, as @N\n"
                  "behind the name. Default: 20")
      ->type_name("N")
      ->check(whole_number(2, most_slower));
}

std::string SlowerOption::applied_to(std::string const& wish) const {
  if (factor == 0) return wish;
  std::string const number = std::to_string(factor), option = "--slower " + number;
  std::string slowed;
  for (std::size_t from = 0; from <= wish.size();) {
    std::size_t const comma = std::min(wish.find(',', from), wish.size());
    std::string const name = wish.substr(from, comma - from);
    from = comma + 1;
    if (!name.starts_with("model:")) {
      std::string text = option;
      text.append(" is for models of GPUs, and '").append(name);
      text.append("' is none: leave it out, or name one, as in --device model:h200.");
      throw Error(ErrorKind::bad_argument, text);
    }
    std::size_t at = name.rfind('@');
    // An '@' without a number behind it belongs to the name of a file.
    if (at != std::string::npos && name.find_first_not_of("0123456789", at + 1) != std::string::npos)
      at = std::string::npos;
    if (at != std::string::npos && name.substr(at + 1) != number) {
      std::string text = option;
      text.append(" and ").append(name).append(" say two factors: say it once.");
      throw Error(ErrorKind::bad_argument, text);
    }
    slowed += (slowed.empty() ? "" : ",") + name + (at == std::string::npos ? "@" + number : "");
  }
  return slowed;
}

void ProfileOption::add_to(CLI::App& command, std::string const& help, std::function<void(Profile const&)> take) {
  command.add_option("--profile", path, help)->type_name("FILE")->check(names_a_file());
  command.final_callback([this, take = std::move(take)] {
    if (path.empty()) return;
    profile = load_profile(path);
    take(*profile);
  });
}

void ProfileOption::warn(ProfiledMachine const& here) const {
  if (!profile) return;
  std::string const difference = profile->difference_to(here);
  if (!difference.empty()) tell(path + ": " + difference);
}

void PipelineArguments::add_to(CLI::App& command, std::string const& tile_sizes) {
  command
      .add_option(
          "--device", device,
          "auto, cpu, cuda, cuda:N, model:NAME, several of them with commas, or all: every GPU, if there is one.\n"
          "auto is the first GPU, or the CPU where there is none")
      ->type_name("NAME")
      ->check(offers(device_words));
  slower.add_to(command);
  for (OptionRow const& row : option_table()) {
    if (!row.in(named_in::commands)) continue;
    std::string const name(row.name);
    std::string& value = values[name];
    switch (row.kind) {
      case OptionKind::count:
      case OptionKind::time:
        command.add_option("--" + name, value, row.help())->type_name("N")->check(whole_number(0, row.most));
        break;
      case OptionKind::size:
        command.add_option("--" + name, value, std::string(row.sentence) + ": " + tile_sizes)->type_name("SIZE");
        break;
      case OptionKind::bytes:
        command.add_option("--" + name, value, row.help())->type_name("SIZE");
        break;
      case OptionKind::word:
        command.add_option("--" + name, value, row.help())->type_name("NAME")->check(offers(row.words()));
        if (row.off.empty()) break;
        command.add_flag_callback(
            "--no-" + name, [&value, &row] { value = row.off; }, "The same as --" + name + " " + std::string(row.off));
        break;
      case OptionKind::yes_no: {
        // Where measurements have a list of words, this has one of them.
        if (row.in(named_in::axes)) {
          command.add_option("--" + name, value, row.help() + ": yes or no. Default: no")
              ->type_name("NAME")
              ->transform(yes_or_no())
              ->check(offers(row.words()));
          break;
        }
        command.add_flag_callback(
            "--" + name, [&value] { value = "yes"; }, row.help());
      }
    }
  }
  command.add_flag("--attribute", attributes,
                   "If a device is lost, run the tiles that it had again, one at a time, and say which of them fails");
  profile.add_to(command, profile_fills_in, [this, &command](Profile const& taken) { take(taken, command); });
  command.footer(
      "N is a whole number; 0 means the default. SIZE is a whole number of bytes, or of KiB, MiB, GiB (1024-fold) or\n"
      "kB, MB, GB (1000-fold).\n" +
      command.get_footer());
}

void PipelineArguments::take(Profile const& taken, CLI::App const& command) {
  PipelineOptions const options = taken.apply({});
  for (OptionRow const& row : option_table()) {
    // Values that follow from named options are left for the pipeline to choose.
    if (!row.in(named_in::profiles) || is_named(command, row.name) || follows_from_named(command, row)) continue;
    values[std::string(row.name)] = row.kind == OptionKind::size ? std::to_string(taken.tile_bytes) : row.text(options);
  }
}

PipelineOptions PipelineArguments::options() const {
  PipelineOptions options;
  for (OptionRow const& row : option_table()) {
    auto const value = values.find(std::string(row.name));
    if (value == values.end() || value->second.empty() || row.kind == OptionKind::size) continue;
    row.set(options, value->second);
  }
  if (attributes) options.watching.hooks.push_back(attribution());
  return options;
}

std::string PipelineArguments::tile_text() const {
  auto const found = std::ranges::find(option_table(), OptionKind::size, &OptionRow::kind);
  auto const value = values.find(std::string(found->name));
  return value == values.end() ? "" : value->second;
}

std::size_t PipelineArguments::tile_bytes(std::size_t preset) const {
  std::string const text = tile_text();
  return text.empty() ? preset : parse_size(text);
}

}  // namespace penstock::cli
