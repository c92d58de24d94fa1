// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/verdict_output.hpp"

#include <optional>

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

Json scaled_or_null(std::optional<double> const& value, double factor = 1) {
  return value ? Json(*value * factor) : Json(nullptr);
}

Json times_of(Verdict const& verdict) {
  if (!verdict.device_times) return nullptr;
  DeviceTimes const& times = *verdict.device_times;
  constexpr double microseconds = 1e6;
  return {{"upload_us", scaled_or_null(times.upload, microseconds)},
          {"kernel_us", scaled_or_null(times.kernel, microseconds)},
          {"download_us", scaled_or_null(times.download, microseconds)},
          {"overlap", scaled_or_null(times.overlap)},
          {"speedup", scaled_or_null(times.speedup)},
          {"possible_speedup", scaled_or_null(times.possible_speedup)}};
}

}  // namespace

std::string as_text(Verdict const& verdict) {
  std::string text = describe(verdict) + "\n";
  if (verdict.device_times) text += "  " + describe(*verdict.device_times) + "\n";
  return text;
}

nlohmann::ordered_json as_members(Verdict const& verdict) {
  Json advice = Json::array();
  for (Advice const& one : verdict.advice)
    advice.push_back({{"change", one.change}, {"gain", one.gain}, {"why", one.why}});
  auto const& why = verdict.streams_will_not_help;
  return {{"bound", bound_name(verdict.bound)},
          {"evidence", verdict.evidence},
          {"ceiling", verdict.ceiling ? Json(verdict.ceiling->bytes_per_second / 1e9) : Json(nullptr)},
          {"advice", advice},
          {"streams_will_not_help", why ? Json(why->sentence) : Json(nullptr)},
          {"streams_reason", why ? Json(no_streams_name(why->reason)) : Json(nullptr)},
          {"device_times", times_of(verdict)}};
}

}  // namespace penstock::cli
