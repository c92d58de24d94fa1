// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/report.hpp"

#include <cstdio>

namespace penstock {
namespace {

template <class... Values>
std::string format(char const* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace

std::string describe(Report const& report) {
  double const seconds = std::chrono::duration<double>(report.wall).count();
  double const rate = seconds > 0 ? static_cast<double>(report.bytes_in) / seconds / 1e9 : 0;
  std::string text =
      format("%llu tiles done, %llu failed, %llu cancelled; %.3f GB in %.3f s, %.2f GB/s",
             static_cast<unsigned long long>(report.tiles_done), static_cast<unsigned long long>(report.tiles_failed),
             static_cast<unsigned long long>(report.tiles_cancelled), static_cast<double>(report.bytes_in) / 1e9,
             seconds, rate);
  if (report.sink_failures != 0) {
    text += format("\nthe sink failed on %llu completions", static_cast<unsigned long long>(report.sink_failures));
  }
  if (report.first_failure) {
    auto const& first = *report.first_failure;
    text += "\nfirst failure: ";
    if (first.sequence) text += format("tile %llu, ", static_cast<unsigned long long>(*first.sequence));
    text += "at " + first.failure.stage + ": " + first.failure.reason;
  }
  return text;
}

}  // namespace penstock
