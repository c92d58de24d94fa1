// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "penstock/device/device_group.hpp"
#include "penstock/profile/profile.hpp"

namespace penstock::cli {

/// What this process runs on, as a profile says it.
ProfiledMachine machine_here(DeviceGroup const& devices);

/// What these results were measured on, but for the flavour, as a profile says it.
///
/// Shape: as docs/results.md has them.
ProfiledMachine machine_of_results(std::string const& results);
/// The values of the profile by the axes that have them.
std::map<std::string, std::string> axis_values(Profile const& profile);

/// The option `--profile FILE`.
struct ProfileOption {
  std::string path;                ///< Empty if there is none.
  std::optional<Profile> profile;  ///< Once the options were read.

  /// `take` is called when all options of the command were read and there is a profile: it sets what was not named.
  void add_to(CLI::App& command, std::function<void(Profile const&)> take);
  /// Says on standard error if the profile was made for another machine or device.
  void warn(ProfiledMachine const& here) const;
};

}  // namespace penstock::cli
