// SPDX-License-Identifier: Apache-2.0
#include "tools/command/verdict_output.hpp"

#include <optional>

#include "tools/command/json_or_null.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

Json microseconds(std::optional<double> const& seconds) {
  return or_null(seconds ? std::optional(*seconds * 1e6) : std::nullopt);
}

Json times_of(Verdict const& verdict) {
  if (!verdict.device_times) return nullptr;
  DeviceTimes const& times = *verdict.device_times;
  return {{"upload_us", microseconds(times.upload)},     {"kernel_us", microseconds(times.kernel)},
          {"download_us", microseconds(times.download)}, {"overlap", or_null(times.overlap)},
          {"speedup", or_null(times.speedup)},           {"possible_speedup", or_null(times.possible_speedup)}};
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
