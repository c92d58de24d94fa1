// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/axis.hpp"

#include <algorithm>
#include <cstdint>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

std::vector<std::string> split(std::string const& text, char at) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    std::size_t const end = text.find(at, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

[[noreturn]] void refuse_second(std::string const& name, std::string const& value) {
  throw Error(ErrorKind::bad_argument, "--" + name + " has " + value + " twice: name each value once.");
}

/// `part` is a range with its ends in the wrong order.
[[noreturn]] void refuse_backward(std::string const& name, std::string const& part) {
  std::size_t const dots = part.find(".."), star = std::min(part.find('*'), part.size());
  std::string const last = part.substr(dots + 2, star - dots - 2);
  throw Error(ErrorKind::bad_argument, "--" + name + " '" + part +
                                           "' is empty: a range begins with the smaller value, " + last + ".." +
                                           part.substr(0, dots) + part.substr(star) + "; or give a list as in " +
                                           (is_in_bytes(name) ? "1MiB,4KiB." : "4,2,1."));
}

[[noreturn]] void refuse(std::string const& name, std::string const& part) {
  char const* const remedy = is_in_bytes(name)
                                 ? "give a list as in 4KiB,1MiB, or a range that multiplies, as in 4KiB..1MiB*4."
                                 : "give a list as in 1,2,4, a range as in 1..4, or one that multiplies, 1..16*2.";
  throw Error(ErrorKind::bad_argument, "--" + name + " '" + part + "': " + remedy);
}

std::uint64_t number(std::string const& name, std::string const& part, std::string const& text) {
  auto const value = whole_number_of(text);
  if (!value) refuse(name, part);
  return *value;
}

/// Begin or end of a range.
std::uint64_t bound(std::string const& name, std::string const& part, std::string const& text) {
  if (!is_in_bytes(name)) return number(name, part, text);
  try {
    return parse_size(text);
  } catch (Error const&) {
    refuse(name, part);
  }
}

/// The values that a part of a list stands for: itself, or all of a range.
std::vector<std::string> expand(std::string const& name, std::string const& part) {
  std::size_t const dots = part.find("..");
  if (dots == std::string::npos) return {part};
  std::string const rest = part.substr(dots + 2);
  std::size_t const star = rest.find('*');
  std::uint64_t const first = bound(name, part, part.substr(0, dots));
  std::uint64_t const last = bound(name, part, rest.substr(0, star));
  if (star == std::string::npos && is_in_bytes(name)) refuse(name, part);  // It would go in steps of a byte.
  std::uint64_t const factor = star == std::string::npos ? 1 : number(name, part, rest.substr(star + 1));
  bool const multiplies = star != std::string::npos;
  // A range with a factor of 0 or 1, or from 0 on, has no end.
  if (multiplies && (factor < 2 || std::min(first, last) == 0)) refuse(name, part);
  if (first > last) refuse_backward(name, part);
  std::vector<std::string> values;
  for (std::uint64_t value = first; value <= last && values.size() <= most_values;) {
    values.push_back(std::to_string(value));
    value = star == std::string::npos ? value + 1 : value * factor;
  }
  return values;
}

}  // namespace

Axis parse_axis(std::string const& name, std::string const& list, Setting const& of) {
  std::vector<std::string> all;
  for (std::string const& part : split(list, ',')) {
    if (part.empty()) refuse(name, list);
    for (std::string const& value : expand(name, part)) all.push_back(value);
  }
  return axis_of(name, all, of);
}

Axis axis_of(std::string const& name, std::span<std::string const> values, Setting const& of) {
  Axis axis{name, {}};
  for (std::string const& value : values) {
    Setting tried = of;
    std::string const said = set(tried, name, value);
    if (std::find(axis.values.begin(), axis.values.end(), said) != axis.values.end()) refuse_second(name, said);
    axis.values.push_back(said);
  }
  if (axis.values.size() > most_values) {
    throw Error(ErrorKind::bad_argument, "--" + name + " has more than " + std::to_string(most_values) +
                                             " values: take fewer, or multiply, as in 1..1024*2.");
  }
  return axis;
}

std::vector<Point> points_of(std::span<Axis const> axes, Setting const& begin) {
  std::vector<Point> points{{.setting = begin}};
  for (Axis const& axis : axes) {
    if (points.size() * axis.values.size() > most_points) {
      throw Error(ErrorKind::bad_argument, "These axes have more than " + std::to_string(most_points) +
                                               " combinations: take fewer values, or several runs.");
    }
    std::vector<Point> longer;
    for (Point const& point : points) {
      for (std::string const& value : axis.values) {
        longer.push_back(point);
        set(longer.back().setting, axis.name, value);
        longer.back().values.push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace penstock::measure
