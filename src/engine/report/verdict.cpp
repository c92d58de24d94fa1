// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include "engine/core/number_text.hpp"
#include "penstock/report.hpp"

namespace penstock {

std::string_view bound_name(Bound bound) noexcept {
  constexpr std::array<std::string_view, 12> names{"upload",       "download",      "kernel",
                                                   "fill",         "sink",          "submission",
                                                   "completions",  "too few tiles", "serialising stream",
                                                   "source waits", "CPUs",          "nothing measured"};
  return names[static_cast<std::size_t>(bound)];
}

std::string_view no_streams_name(NoStreams reason) noexcept {
  constexpr std::array<std::string_view, 5> names{"kernels fill device", "link full", "host", "work too small",
                                                  "barrier"};
  return names[static_cast<std::size_t>(reason)];
}

std::string describe(DeviceTimes const& times) {
  std::string text = "A tile takes";
  char const* separator = " ";
  auto const add = [&](char const* name, std::optional<double> const& seconds) {
    if (!seconds) return;
    text += separator + std::string(name) + " " + seconds_text(*seconds);
    separator = ", ";
  };
  add("upload", times.upload);
  add("kernel", times.kernel);
  add("download", times.download);
  if (*separator == ' ')
    return "Overlap is " + percent_text(times.overlap.value_or(0)) + ": all work waits in one stream.";
  if (times.overlap) text += "; overlap is " + percent_text(*times.overlap);
  if (times.speedup && times.possible_speedup) {
    text += (times.overlap ? ", which is " : "; that is ") + factor_text(*times.speedup) +
            " x of one after the other (1 - measured / one after the other: " + percent_text(1 - 1 / *times.speedup) +
            "), and " + factor_text(*times.possible_speedup) + " x is possible";
  }
  return text + ".";
}

std::string describe(Verdict const& verdict) {
  std::string text = "bound: " + std::string(bound_name(verdict.bound));
  if (verdict.bytes_per_second > 0) text += "; " + rate_text(verdict.bytes_per_second);
  if (verdict.ceiling) text += " of " + rate_text(verdict.ceiling->bytes_per_second) + ", " + verdict.ceiling->of;
  if (verdict.next) text += "; next " + rate_text(verdict.next->bytes_per_second) + ", " + verdict.next->of;
  for (std::string const& sentence : verdict.evidence) text += "\n  " + sentence;
  for (Advice const& advice : verdict.advice) {
    text += "\n  try " + advice.change + ": " + factor_text(advice.gain) + " x. " + advice.why;
  }
  if (!verdict.no_advice.empty()) text += "\n  " + verdict.no_advice;
  if (verdict.streams_will_not_help) text += "\n  " + verdict.streams_will_not_help->sentence;
  return text;
}

}  // namespace penstock
