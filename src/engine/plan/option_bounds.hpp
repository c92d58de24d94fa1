// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/core/pool.hpp"
#include "engine/core/words.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// The values of an enumeration of options.
constexpr auto const& values_of(Aim) {
  return all_aims;
}
constexpr auto const& values_of(SignalKind) {
  return all_signal_kinds;
}
constexpr auto const& values_of(StreamMode) {
  return all_stream_modes;
}
constexpr auto const& values_of(LaneShape) {
  return all_lane_shapes;
}
constexpr auto const& values_of(Transport) {
  return all_transports;
}
constexpr auto const& values_of(Graphs) {
  return all_graphs;
}
constexpr auto const& values_of(Bind) {
  return all_binds;
}

/// The option where it is: `member` is one of PipelineOptions or of Tuning.
template <auto member>
constexpr auto& option_in(auto& options) {
  if constexpr (requires { options.*member; }) {
    return options.*member;
  } else {
    return options.tuning.*member;
  }
}

/// Kinds of bounds, each with its own text for a value that is not within them.
enum class BoundKind : std::uint8_t {
  threads,  ///< A number of threads.
  number,   ///< Any other number.
  typed,    ///< A number that only text is held to: a program may ask for more.
  time,     ///< Microseconds that are not negative. A program's longer time means the bound.
  word,     ///< A value of an enumeration.
};

/// The bounds of an option, for the check of options and for texts that set or explain them.
struct OptionBound {
  std::string_view name;  ///< Name of the member: "borrow_spin".
  BoundKind kind = BoundKind::number;
  std::uint64_t most = 0;                                            ///< Maximum of a number, and of microseconds.
  std::uint64_t (*value)(PipelineOptions const& options) = nullptr;  ///< Value of a number that programs are held to.
  bool (*is_allowed)(PipelineOptions const& options) = nullptr;      ///< Check of times and words.
  std::string (*words)() = nullptr;                                  ///< All words that there are, with commas.

  /// True if a program may ask for what the options ask for.
  bool is_within(PipelineOptions const& options) const {
    return value != nullptr ? value(options) <= most : is_allowed == nullptr || is_allowed(options);
  }
};

namespace bounds {

template <auto member>
using ValueOf = std::remove_cvref_t<decltype(option_in<member>(std::declval<PipelineOptions&>()))>;

template <auto member>
constexpr OptionBound number(std::string_view name, std::uint64_t most, BoundKind kind = BoundKind::number) {
  return {.name = name, .kind = kind, .most = most, .value = [](PipelineOptions const& options) {
            return std::uint64_t{option_in<member>(options)};
          }};
}

template <auto member>
constexpr OptionBound threads(std::string_view name) {
  return number<member>(name, PipelineOptions::most_threads, BoundKind::threads);
}

constexpr OptionBound typed(std::string_view name, std::uint64_t most) {
  return {.name = name, .kind = BoundKind::typed, .most = most};
}

template <auto member>
constexpr OptionBound time(std::string_view name) {
  return {.name = name,
          .kind = BoundKind::time,
          .most = Tuning::for_ever.count(),
          .is_allowed = [](PipelineOptions const& options) {
            return option_in<member>(options).value_or(Tuning::for_ever).count() >= 0;
          }};
}

template <auto member>
constexpr OptionBound word(std::string_view name) {
  return {.name = name,
          .kind = BoundKind::word,
          .is_allowed =
              [](PipelineOptions const& options) {
                auto const value = option_in<member>(options);
                return std::ranges::find(values_of(value), value) != values_of(value).end();
              },
          .words = [] { return words_for(values_of(ValueOf<member>{})); }};
}

}  // namespace bounds

/// The bounds of all options that have any, in the order in which they are checked.
inline constexpr std::array option_bounds{
    bounds::threads<&PipelineOptions::producers>("producers"),
    bounds::threads<&PipelineOptions::lanes>("lanes"),
    bounds::threads<&PipelineOptions::consumers>("consumers"),
    bounds::number<&Tuning::slots>("slots", Pool::max_tiles),
    bounds::number<&Tuning::batch>("batch", Pool::max_tiles),
    bounds::number<&Tuning::tiles>("tiles", Pool::max_tiles),
    bounds::number<&Tuning::spare>("spare", Tuning::most_spare),
    bounds::typed("memory", std::uint64_t{1} << 47),  // A process cannot address more.
    bounds::typed("tile", std::uint64_t{1} << 30),
    bounds::time<&Tuning::spin>("spin"),
    bounds::time<&Tuning::borrow_spin>("borrow_spin"),
    bounds::word<&PipelineOptions::aim>("aim"),
    bounds::word<&Tuning::signal>("signal"),
    bounds::word<&Tuning::streams>("streams"),
    bounds::word<&Tuning::shape>("shape"),
    bounds::word<&Tuning::transport>("transport"),
    bounds::word<&Tuning::graphs>("graphs"),
    bounds::word<&Tuning::bind>("bind")};

/// The bounds of the option with that name.
///
/// Shape: there is one.
constexpr OptionBound const& bound_of(std::string_view name) {
  return *std::ranges::find(option_bounds, name, &OptionBound::name);
}

/// Throws: Error of kind bad_argument for a number above its bound, a value that its enumeration does not have, or a
///         time below 0; the text names the member and what would do.
void expect_in_bounds(PipelineOptions const& options);

}  // namespace penstock
