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

/// Of `--aim`, in each command that has it.
inline constexpr char const* what_aim_decides =
    "What lanes, batch, slots, tiles, spin and watching are for where they are left to the pipeline: throughput, "
    "latency";

/// What most commands do with a profile.
inline constexpr char const* profile_fills_in =
    "Settings that penstock tune --save wrote, for all that is not named here";

/// The option `--profile FILE`.
struct ProfileOption {
  std::string path;                ///< Empty if there is none.
  std::optional<Profile> profile;  ///< Once the options were read.

  /// `help` says what is done with it. `take` is called when all options of the command were read and there is a
  /// profile: it sets what was not named.
  void add_to(CLI::App& command, std::string const& help, std::function<void(Profile const&)> take);
  /// Says on standard error if the profile was made for another machine or device.
  void warn(ProfiledMachine const& here) const;
};

}  // namespace penstock::cli
