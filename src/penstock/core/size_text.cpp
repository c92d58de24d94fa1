// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/size_text.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

#include "penstock/error.hpp"

namespace penstock {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::uint64_t kilo = 1000, kibi = 1024;
constexpr std::array units{Unit{"", 1},
                           Unit{"b", 1},
                           Unit{"k", kibi},
                           Unit{"kb", kilo},
                           Unit{"kib", kibi},
                           Unit{"m", kibi* kibi},
                           Unit{"mb", kilo* kilo},
                           Unit{"mib", kibi* kibi},
                           Unit{"g", kibi* kibi* kibi},
                           Unit{"gb", kilo* kilo* kilo},
                           Unit{"gib", kibi* kibi* kibi},
                           Unit{"t", kibi* kibi* kibi* kibi},
                           Unit{"tb", kilo* kilo* kilo* kilo},
                           Unit{"tib", kibi* kibi* kibi* kibi}};

[[noreturn]] void refuse(std::string_view text) {
  throw Error(
      ErrorKind::bad_argument,
      "'" + std::string(text) + "' is not a size: write bytes, or a whole number with KiB, MiB or GiB, like 4MiB.");
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
  for (Unit const& known : units) {
    if (known.name != unit) continue;
    if (number > std::numeric_limits<std::uint64_t>::max() / known.bytes) refuse(text);
    return number * known.bytes;
  }
  refuse(text);
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  // What would be written as 1024.0 is one of the next unit.
  constexpr double most = 1023.95;
  double scaled = static_cast<double>(bytes);
  std::size_t name = 0;
  for (; scaled >= most && name + 1 < names.size(); ++name) scaled /= 1024;
  char text[32];
  bool const whole = scaled == static_cast<double>(static_cast<std::uint64_t>(scaled));
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.1f %s", scaled, names.at(name));
  return text;
}

}  // namespace penstock
