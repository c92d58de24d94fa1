// SPDX-License-Identifier: Apache-2.0
// Options that a search found best, in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Machine on which a profile was made, by the names that affect the best options.
struct ProfiledMachine {
  std::string cpu = {};      ///< CPU model: "AMD EPYC 9654 96-Core Processor".
  std::uint64_t cpus = 0;    ///< Number of CPUs that the process may use; 0 if not known.
  std::string device = {};   ///< "NVIDIA H200", "CPU device".
  std::string driver = {};   ///< "13.0"; empty without one.
  std::string flavour = {};  ///< "per-thread" or "legacy".
};

/// Describes the machine of this process, with these devices.
ProfiledMachine machine_here(DeviceGroup const& devices);

/// The work that was measured, in terms of the options of `bench`.
struct ProfiledJob {
  std::string work = {};
  std::string fill = {};
  std::string direction = {};
  std::string streams = {};
  std::string sink = {};
  std::string name = {};  ///< Job::name of a user's job; empty for the work of `penstock`, and in older profiles.
  /// Values of the options of a user's job for which a measurement can try several values.
  std::map<std::string, std::string> options = {};
};

/// Result of several runs.
struct ProfiledSpread {
  double median = 0;
  double least = 0;
  double most = 0;
};

/// Result of a search for latency.
///
/// Units: microseconds, within which 99 of 100 tiles were done.
struct ProfiledLatency {
  double load_tiles_per_second = 0;
  ProfiledSpread p99 = {};
  std::optional<ProfiledSpread> defaults_p99 = {};  ///< Empty if the defaults failed.
};

/// The options of a pipeline that `penstock tune` found best for a job on a machine.
///
/// Source: the form of its file is in docs/profile.md.
struct Profile {
  std::string version = {};  ///< Version of the penstock that made it.
  std::string date = {};     ///< ISO 8601.
  ProfiledMachine machine = {};
  ProfiledJob job = {};
  std::size_t tile_bytes = 0;  ///< Value of `--tile`; 0 in a saved profile: the larger part of the options' tile.
  /// Only the options that a profile sets: tile, threads, batches, slots and the way that lanes work (docs/profile.md).
  PipelineOptions options = {};
  /// Gigabytes a second of one direction; empty if the search was for latency.
  std::optional<ProfiledSpread> rate = {};
  std::optional<ProfiledSpread> defaults_rate = {};  ///< Empty if the defaults failed.
  std::optional<ProfiledLatency> latency = {};       ///< Empty if the search was for throughput.

  /// Returns `wanted` with the profile's values; a tile that has a shape keeps it. Nothing changes that a stage, a
  /// source or a sink would notice, other than the number of threads that call them: order, streams, the threads that
  /// call the sink, and whether several do at once stay as wanted. If all tiles were mapped, those that the stage
  /// allows are mapped again.
  PipelineOptions apply(PipelineOptions wanted) const;
  /// A sentence on the differences between `here` and the machine of the profile; empty if they are the same. Other
  /// drivers and unknown names are no difference.
  std::string difference_to(ProfiledMachine const& here) const;
};

/// The profile in this text. Error messages call it `name`. Unknown members are ignored.
///
/// Throws: Error of kind bad_argument, if it is no profile; the text states the place of the error and the remedy.
Profile parse_profile(std::string_view text, std::string const& name);
/// The text of a profile.
std::string text_of(Profile const& profile);

/// The profile in a file that `penstock tune --save` wrote.
///
/// Throws: Error of kind bad_argument, if there is no such file or it holds no profile.
Profile load_profile(std::filesystem::path const& path);
/// Writes the whole file, or leaves the old one unchanged. `load_profile` reads it.
///
/// Throws: Error of kind bad_argument, if `path` names no file that can be written, or if the profile has no tile, no
///         rate or latency above 0, or counts that it leaves to the pipeline; of kind system, if not all can be
///         written.
void save_profile(Profile const& profile, std::filesystem::path const& path);

}  // namespace penstock
