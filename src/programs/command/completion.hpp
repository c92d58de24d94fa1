// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Takes every value, and names some for the completion of a shell, as in "split, single" or "split single": for an
/// option whose value is a list of them, or is checked once all options were read. --help does not show them, as the
/// option's description does.
CLI::Validator offers(std::string const& names);

/// The names of devices that every machine knows: for options that take one, and for those that take several.
inline constexpr char const* one_device_words =
    "auto, cpu, cuda, model:h200, model:h100, model:a100, model:t4, model:l4, model:gh200, model:b200, model:p100, "
    "model:k20c, model:c2050, model:c1060";
inline constexpr char const* device_words =
    "auto, cpu, cuda, model:h200, model:h100, model:a100, model:t4, model:l4, model:gh200, model:b200, model:p100, "
    "model:k20c, model:c2050, model:c1060, all";

/// The words that completion offers for the option: the values that `offers` names, or all that a CLI::IsMember takes.
/// Empty if it has neither. CLI11 shows the validators of an option only where it may be changed.
std::vector<std::string> offered_values(CLI::Option& option);

/// A script that lets bash complete the command line of `program`: its commands, the options of each, and the values of
/// options that have offered_values. For every other word bash offers file names. Options that --help hides are not
/// offered.
std::string bash_completion(CLI::App& program);

}  // namespace penstock::cli
