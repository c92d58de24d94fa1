// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/machine/host_limits.hpp"
#include "observe/report_json.hpp"
#include "penstock/device.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"

namespace penstock::cli {

/// Lines of cells, the first of them with names. The first `texts` columns are aligned to the left, the others, which
/// are figures, to the right.
std::string text_table(std::vector<std::vector<std::string>> const& rows, std::size_t texts);
/// `text` in lines of at most `columns` characters, broken between words, each after `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);
/// A line of cells with commas between them; cells with a comma, a quote or an end of line are quoted.
std::string csv_line(std::vector<std::string> const& cells);
/// The number with four significant digits: "12.34", "0.123", "1234".
std::string short_number(double value);
/// One number in printf's format.
std::string formatted(char const* pattern, double value);
/// A value of an axis for people: sizes in KiB and the like.
std::string axis_value_text(std::string const& axis, std::string const& value);
/// A value of an axis as data: counts and sizes are numbers.
nlohmann::ordered_json axis_value_as_json(std::string const& value);

/// Text for people: the one of `describe`, and a line on what a tile takes of the device. Ends a line.
std::string as_text(Verdict const& verdict);

/// The times of spans as docs/results.md lists them.
nlohmann::ordered_json as_list(std::vector<SpanTimes> const& spans);

/// For a model on a machine that is too slow for its clock: the places of those of `points` points that are not judged
/// for that, and the message for the first. Ends a line; empty without places.
std::string late_sentence(std::string const& told, std::vector<std::string> const& places, std::size_t points);

/// Place and conditions of a sweep.
struct BenchFacts {
  std::string version;
  std::string commit;  ///< Empty if unknown.
  Flavour flavour = Flavour::per_thread;
  bool with_cuda = false;
  HostLimits host;
  std::size_t cpus = 0;
  std::size_t nodes = 0;
  DeviceInfo device;                 ///< Result of DeviceGroup::info.
  std::vector<std::string> devices;  ///< Result of DeviceGroup::names.
  std::string date;                  ///< ISO 8601.
  std::string command;               ///< Command line, quoted for a shell.
};

/// Facts on this build, with its flavour and the CUDA device or without it; this machine, those devices and the time
/// now.
///
/// Throws: Error, if a device does not say what it is.
BenchFacts facts_here(DeviceGroup const& devices, Flavour flavour, bool with_cuda, std::string const& command_line);

/// The same for work of processes with devices of their own, which `device` describes.
BenchFacts facts_here(DeviceInfo device, std::vector<std::string> devices, Flavour flavour, bool with_cuda,
                      std::string const& command_line);

/// Description of a device for people: "NVIDIA H200", or "model of NVIDIA H200 (model:h200, 16 CPUs, 20 times slower)".
std::string device_text(DeviceInfo const& device);
/// Description of a device from the member `device` of docs/results.md.
std::string device_text(nlohmann::ordered_json const& device);
/// Factor by which this machine's time is slower, for results of a modelled GPU; else null.
nlohmann::ordered_json slower_or_null(std::string const& model);

/// The time now, in the form of BenchFacts::date.
std::string date_now();
/// The members `penstock`, `machine`, `device`, `date` and `command` of docs/results.md.
nlohmann::ordered_json as_members(BenchFacts const& facts);

}  // namespace penstock::cli
