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

/// What a profile was made on, by the names that change what is best there.
struct ProfiledMachine {
  std::string cpu = {};      ///< The model: "AMD EPYC 9654 96-Core Processor".
  std::uint64_t cpus = 0;    ///< That the process may use; 0 if that is not known.
  std::string device = {};   ///< "NVIDIA H200", "CPU device".
  std::string driver = {};   ///< "13.0"; empty without one.
  std::string flavour = {};  ///< "per-thread" or "legacy".
};

/// The machine of this process, with these devices.
ProfiledMachine machine_here(DeviceGroup const& devices);

/// What was being done, as options of `bench` say it.
struct ProfiledJob {
  std::string work = {};
  std::string fill = {};
  std::string direction = {};
  std::string streams = {};
  std::string sink = {};
  std::string name =
      {};  ///< Job::name of a job of the user's; empty for the work of `penstock`, and in older profiles.
  /// The values of those options of such a job that a measurement can try several values of.
  std::map<std::string, std::string> options = {};
};

/// What several runs came to.
struct ProfiledSpread {
  double median = 0;
  double least = 0;
  double most = 0;
};

/// What a search for latency measured.
///
/// Units: microseconds, within which 99 tiles of 100 were through.
struct ProfiledLatency {
  double load_tiles_per_second = 0;
  ProfiledSpread p99 = {};
  std::optional<ProfiledSpread> defaults_p99 = {};  ///< Empty if the defaults failed.
};

/// The options of a pipeline that `penstock tune` found best for a job on a machine.
///
/// Source: docs/profile.md has the form of its file.
struct Profile {
  std::string version = {};  ///< Of the penstock that made it.
  std::string date = {};     ///< ISO 8601.
  ProfiledMachine machine = {};
  ProfiledJob job = {};
  std::size_t tile_bytes = 0;  ///< As `--tile` says it; 0 in what is saved: the larger part of the options' tile.
  /// Only those that a profile sets: tile, threads, batches, slots and how lanes work (docs/profile.md).
  PipelineOptions options = {};
  /// Gigabytes a second of one direction; empty if the search was for latency.
  std::optional<ProfiledSpread> rate = {};
  std::optional<ProfiledSpread> defaults_rate = {};  ///< Empty if the defaults failed.
  std::optional<ProfiledLatency> latency = {};       ///< Empty if the search was for throughput.

  /// `wanted` with the profile's values; but a tile that has a shape keeps it. Nothing changes that a stage, a source
  /// or a sink would notice, other than how many threads call them: order, streams, which threads call the sink and
  /// whether several do at once are as wanted. Where all tiles were mapped, those are that the stage allows.
  PipelineOptions apply(PipelineOptions wanted) const;
  /// A sentence on how `here` differs from where the profile was made; empty if it is the same. Other drivers and
  /// unknown names are no difference.
  std::string difference_to(ProfiledMachine const& here) const;
};

/// The profile in this text. `name` is what refusals call it. Members that it does not know are passed over.
///
/// Throws: Error of kind bad_argument, if it is none; the text says where it is wrong and what to do.
Profile parse_profile(std::string_view text, std::string const& name);
/// The text of a profile.
std::string text_of(Profile const& profile);

/// The profile in a file that `penstock tune --save` wrote.
///
/// Throws: Error of kind bad_argument, if there is no such file or it holds no profile.
Profile load_profile(std::filesystem::path const& path);
/// Writes all of it, or leaves what was there as it was. What was written `load_profile` reads.
///
/// Throws: Error of kind bad_argument, if `path` names no file that can be written, or if the profile has no tile, no
///         rate or latency above 0, or counts that it leaves to the pipeline; of kind system, if not all can be
///         written.
void save_profile(Profile const& profile, std::filesystem::path const& path);

}  // namespace penstock
