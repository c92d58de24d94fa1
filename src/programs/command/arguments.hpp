// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "observe/option_table.hpp"
#include "penstock/device.hpp"
#include "penstock/operate/operation.hpp"
#include "penstock/options.hpp"

namespace penstock::cli {

/// Takes a whole number from `least` to `most`, in decimal digits.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// Takes a number from `least` to `most`; `what` names it in the error for another value, as in "a number of seconds".
CLI::Validator number_between(double least, double most, std::string const& what);

/// Takes a finite number above 0; `what` is as above, and `example` is a valid value.
CLI::Validator number_above_zero(std::string const& what, std::string const& example);

/// Takes any text that may name a file: one that is not empty.
CLI::Validator names_a_file();

/// Takes any text that may name a file to be written: likewise, but not `-`, which some would take for standard output.
CLI::Validator names_an_output();

/// The machine that these results were measured on, without the flavour, in the form of a profile.
///
/// Shape: as docs/results.md has them.
ProfiledMachine machine_of_results(std::string const& results);

/// True if the command line has the option of that name, or has it by its former name.
bool is_named(CLI::App const& command, std::string_view option);
/// True if it has an option from which the value of this one follows.
bool follows_from_named(CLI::App const& command, OptionRow const& row);
/// Also takes the former name of an option, if it has one, but does not show it in the help.
void add_former_name(CLI::App& command, OptionRow const& row, std::string& value);

/// Also takes an option by its former name, which --help leaves out, and says on standard error how it is written now.
void add_former_option(CLI::App& command, std::string const& former, CLI::Option& now);

/// The option `--slower N`, which stands for `@N` behind the name of each model of a GPU.
struct SlowerOption {
  unsigned factor = 0;  ///< 0: it was not named.

  void add_to(CLI::App& command);
  /// `wish` names devices, as open_devices takes them. Returns: the same, with the factor behind each.
  ///
  /// Throws: Error of kind bad_argument, if it was named, and one of them is no model or says another factor.
  std::string applied_to(std::string const& wish) const;
};

/// The use that most commands make of a profile.
inline constexpr char const* profile_fills_in = "Settings that tune --save wrote, for all that is not named here";

/// The option `--profile FILE`.
struct ProfileOption {
  std::string path;                ///< Empty if there is none.
  std::optional<Profile> profile;  ///< Set once the options were read.

  /// `help` says what is done with it. `take` is called when all options of the command were read and there is a
  /// profile: it sets the values that were not named.
  void add_to(CLI::App& command, std::string const& help, std::function<void(Profile const&)> take);
  /// Says on standard error if the profile was made for another machine or device.
  void warn(ProfiledMachine const& here) const;
};

/// The options that every command with a pipeline has.
struct PipelineArguments {
  std::string device = "auto";
  SlowerOption slower;
  std::map<std::string, std::string> values;  ///< Values by option, as asked for or as the profile has them.
  ProfileOption profile;
  bool attributes = false;  ///< Lost tiles are run again, as `attribution()` says.

  /// `tile_sizes` is the text of --help on the sizes that a tile may have.
  void add_to(CLI::App& command, std::string const& tile_sizes);
  /// A pipeline's options but for the tile's shape.
  ///
  /// Throws: Error of kind bad_argument.
  PipelineOptions options() const;
  /// The devices, as open_devices takes them.
  ///
  /// Throws: as SlowerOption::applied_to.
  std::string wish() const { return slower.applied_to(device); }
  /// Bytes of a tile, or `preset` if none was asked for.
  ///
  /// Throws: Error of kind bad_argument.
  std::size_t tile_bytes(std::size_t preset) const;
  /// The size of a tile, as asked for; empty if none was.
  std::string tile_text() const;

 private:
  /// Takes the profile's values for all options that `command` was not given.
  void take(Profile const& taken, CLI::App const& command);
};

}  // namespace penstock::cli
