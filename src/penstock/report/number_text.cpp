// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/number_text.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "penstock/core/size_text.hpp"

namespace penstock {
namespace {

struct Unit {
  double size;
  char const* name;
};

/// Two or three digits, in the first unit of which there is one, or in the last.
template <std::size_t count>
std::string in_units(double value, std::array<Unit, count> const& units) {
  Unit unit = units.back();
  for (auto known = units.rbegin(); known != units.rend(); ++known) {
    // What would be written as 1000 is one of the next unit.
    if (std::abs(value) >= 0.9995 * known->size) unit = *known;
  }
  double const scaled = value / unit.size;
  char text[48];
  std::snprintf(text, sizeof text, std::abs(scaled) < 99.95 ? "%.1f %s" : "%.0f %s", scaled, unit.name);
  return text;
}

}  // namespace

std::string percent_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::string rate_text(double bytes_per_second) {
  return in_units(bytes_per_second,
                  std::array{Unit{1e9, "GB/s"}, Unit{1e6, "MB/s"}, Unit{1e3, "kB/s"}, Unit{1, "B/s"}});
}

std::string seconds_text(double seconds) {
  return in_units(seconds, std::array{Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}, Unit{1e-9, "ns"}});
}

std::string size_option(double bytes) {
  auto const whole = static_cast<std::uint64_t>(std::llround(bytes));
  std::string text = size_text(whole);
  // What it rounded is said in bytes.
  if (text.find('.') != std::string::npos || parse_size(text) != whole) return std::to_string(whole);
  text.erase(text.find(' '), 1);
  return text;
}

std::string factor_text(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, factor < 1.995 ? "%.2f" : factor < 9.95 ? "%.1f" : "%.0f", factor);
  return text;
}

}  // namespace penstock
