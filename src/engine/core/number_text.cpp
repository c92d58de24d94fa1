// SPDX-License-Identifier: Apache-2.0
#include "engine/core/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <system_error>

#include "penstock/error.hpp"

namespace penstock {
namespace {

struct SizeUnit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::uint64_t kilo = 1000, kibi = 1024;
constexpr std::array size_units{SizeUnit{"", 1},
                                SizeUnit{"b", 1},
                                SizeUnit{"k", kibi},
                                SizeUnit{"kb", kilo},
                                SizeUnit{"kib", kibi},
                                SizeUnit{"m", kibi* kibi},
                                SizeUnit{"mb", kilo* kilo},
                                SizeUnit{"mib", kibi* kibi},
                                SizeUnit{"g", kibi* kibi* kibi},
                                SizeUnit{"gb", kilo* kilo* kilo},
                                SizeUnit{"gib", kibi* kibi* kibi},
                                SizeUnit{"t", kibi* kibi* kibi* kibi},
                                SizeUnit{"tb", kilo* kilo* kilo* kilo},
                                SizeUnit{"tib", kibi* kibi* kibi* kibi}};

[[noreturn]] void refuse(std::string_view text) {
  throw Error(
      ErrorKind::bad_argument,
      "'" + std::string(text) + "' is not a size: write bytes, or a whole number with KiB, MiB or GiB, like 4MiB.");
}

struct Unit {
  double size;
  char const* name;
};

/// Writes two or three digits in the largest unit of which `value` has at least one, or else in the smallest unit.
template <std::size_t count>
std::string in_units(double value, std::array<Unit, count> const& units) {
  Unit unit = units.back();
  for (auto known = units.rbegin(); known != units.rend(); ++known) {
    // A value that would be written as 1000 is one of the next unit.
    if (std::abs(value) >= 0.9995 * known->size) unit = *known;
  }
  double const scaled = value / unit.size;
  char text[48];
  std::snprintf(text, sizeof text, std::abs(scaled) < 99.95 ? "%.1f %s" : "%.0f %s", scaled, unit.name);
  return text;
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
  std::uint64_t number = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) refuse(text);
  std::string unit(end, text.data() + text.size());
  if (!unit.empty() && unit.front() == ' ') unit.erase(0, 1);
  for (char& letter : unit) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  for (SizeUnit const& known : size_units) {
    if (known.name != unit) continue;
    if (number > std::numeric_limits<std::uint64_t>::max() / known.bytes) refuse(text);
    return number * known.bytes;
  }
  refuse(text);
}

std::optional<std::uint64_t> whole_number_of(std::string_view text, std::uint64_t most) noexcept {
  std::uint64_t number = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool const good = problem == std::errc{} && end == text.data() + text.size() && number <= most;
  return good ? std::optional(number) : std::nullopt;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  // A value that would be written as 1024.0 is one of the next unit.
  constexpr double most = 1023.95;
  double scaled = static_cast<double>(bytes);
  std::size_t name = 0;
  for (; scaled >= most && name + 1 < names.size(); ++name) scaled /= 1024;
  char text[32];
  bool const whole = scaled == static_cast<double>(static_cast<std::uint64_t>(scaled));
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.1f %s", scaled, names.at(name));
  return text;
}

std::string count_text(std::uint64_t count, std::string_view one) {
  return std::to_string(count).append(" ").append(one).append(count == 1 ? "" : "s");
}

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
  // A size that would be rounded is given in bytes.
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
