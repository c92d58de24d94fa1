// SPDX-License-Identifier: Apache-2.0
// Verdicts, reports, snapshots and devices as JSON, with the names of docs/results.md and docs/jobs.md.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "penstock/device.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// The text; null for an empty one, which is not known.
inline nlohmann::ordered_json or_null(std::string const& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

/// The value; null for one that is not known.
template <class Value>
nlohmann::ordered_json or_null(std::optional<Value> const& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// "cuda", "cpu" or "model".
char const* kind_name(DeviceInfo const& device) noexcept;

/// The members of docs/results.md that follow from the verdict alone.
nlohmann::ordered_json as_members(Verdict const& verdict);
/// Tiles, bytes and time of the whole run.
nlohmann::ordered_json count_members(Report const& report);
/// Null if no tiles were run again.
nlohmann::ordered_json attribution_json(Attribution const* attribution);
/// A list of the input that could not be used.
nlohmann::ordered_json left_out_json(std::span<LeftOut const> all);

/// What became of the whole run, apart from counts: members that reports and results of a job share.
nlohmann::ordered_json outcome_members(Report const& report);

/// A report as an object of kind "report".
std::string report_json(Report const& report);
/// A snapshot as an object of kind "snapshot".
std::string snapshot_json(Snapshot const& snapshot);
/// Devices as an object of kind "devices".
///
/// Throws: Error, if one does not describe itself.
std::string devices_json(DeviceGroup const& devices);

}  // namespace penstock
