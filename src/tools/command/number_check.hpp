// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Takes a whole number from `least` to `most`, in decimal digits.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// Takes a number from `least` to `most`; `what` names it in the refusal of another, as in "a number of seconds".
CLI::Validator number_between(double least, double most, std::string const& what);

/// Takes a finite number above 0; `what` is as above, and `example` one that will do.
CLI::Validator number_above_zero(std::string const& what, std::string const& example);

}  // namespace penstock::cli
