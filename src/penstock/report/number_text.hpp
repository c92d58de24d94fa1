// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock {

/// "97 %", of 0.97.
std::string percent_text(double share);
/// "48.6 GB/s", "930 MB/s", "1.2 kB/s": units 1000-fold, as links are told.
std::string rate_text(double bytes_per_second);
/// "8.2 us", "130 ms", "4.0 s".
std::string seconds_text(double seconds);
/// "4MiB", as options take it.
std::string size_option(double bytes);
/// "1.07", "2.5", "16".
std::string factor_text(double factor);

}  // namespace penstock
