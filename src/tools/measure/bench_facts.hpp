// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/device/device.hpp"
#include "penstock/device/device_group.hpp"
#include "penstock/machine/host_limits.hpp"

namespace penstock::cli {

/// Where and with what a sweep was made.
struct BenchFacts {
  std::string version;
  std::string commit;  ///< Empty if unknown.
  Flavour flavour = Flavour::per_thread;
  bool with_cuda = false;
  HostLimits host;
  std::size_t cpus = 0;
  std::size_t nodes = 0;
  DeviceInfo device;                 ///< As DeviceGroup::info.
  std::vector<std::string> devices;  ///< As DeviceGroup::names.
  std::string date;                  ///< ISO 8601.
  std::string command;               ///< As a shell takes it.
};

/// This build, which is of that flavour and has the CUDA device or not; this machine, those devices and the time now.
///
/// Throws: Error, if a device does not say what it is.
BenchFacts facts_here(DeviceGroup const& devices, Flavour flavour, bool with_cuda, std::string const& command_line);

/// The time now, as BenchFacts::date.
std::string date_now();
/// The members `penstock`, `machine`, `device`, `date` and `command` of docs/results.md.
nlohmann::ordered_json as_members(BenchFacts const& facts);

/// Median, least and most of measurements, times `factor`, as docs/results.md has them; null without any.
nlohmann::ordered_json as_spread(std::vector<double> const& values, double factor);

}  // namespace penstock::cli
