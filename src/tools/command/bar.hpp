// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace penstock::cli {

/// Columns of the terminal on standard error; 80 if it does not say.
unsigned terminal_width();
/// "1:05", "2:00:00".
std::string clock_text(double seconds);
/// A bar that is full to that part, 0 to 1, and the words behind it; no bar if there is no part or no room for it.
/// Leaves a column free, so that no terminal wraps.
std::string bar_line(std::optional<double> part, std::string const& words, unsigned width);
/// Takes a line that was drawn on standard error away again.
void wipe_line();

}  // namespace penstock::cli
