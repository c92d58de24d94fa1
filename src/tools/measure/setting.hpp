// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/job.hpp"
#include "penstock/observe/option_table.hpp"
#include "penstock/options.hpp"

namespace penstock::measure {

/// One pipeline to be measured: a point of a sweep.
struct Setting {
  std::string device =
      {};  ///< What the devices are called, as open_devices takes it; empty for the only ones there are.
  /// What of it is asked for; all but the shape of a tile, which follows from its size and the job.
  PipelineOptions pipeline = {};
  bool lanes_as_producers = false;          ///< As many lanes as producers, whatever `pipeline` says.
  std::size_t tile = std::size_t{1} << 20;  ///< Bytes.
  Job const* job = nullptr;                 ///< What is done; it outlives this. Null for the built-in job.
  JobValues values = {};                    ///< Of the job's own options, those that are named.

  Job const& its_job() const;
  /// Throws: Error of kind bad_argument, if an option of the job is missing that must be named.
  void expect_required() const;
  /// What the job is asked for, with the values of all of its options.
  JobPoint point() const;
  /// What a tile of it is like.
  ///
  /// Throws: Error of kind bad_argument, if the job cannot have such a tile.
  TileShape shape_of_tile() const;
  /// The pipeline's options. Threads that wait for a tile or a result watch for it as long as lanes watch their device,
  /// but 20 us at most, unless the aim is latency.
  ///
  /// Throws: Error of kind bad_argument, if no pipeline can have all of them.
  PipelineOptions options() const;
};

/// What a sweep can give several values: an option of a pipeline, or what is done with its tiles.
struct AxisKind {
  std::string_view name;
  std::string preset;                 ///< What it is if it is not named.
  OptionRow const* option = nullptr;  ///< Null if it is none of a pipeline's.
  std::string_view sentence = {};     ///< If it is none: what it is.
  std::string_view words = {};        ///< Likewise: some of what it takes.

  /// What stages, sources or sinks would notice: no profile and no search chooses it.
  bool of_job() const { return option == nullptr || !option->in(named_in::profiles); }
  /// What --help says, where it is `value` if it is not named; if that is empty, its preset.
  std::string help(std::string const& value) const;
  /// What completion offers; empty if it is a number.
  std::string offered() const;
};
/// All of the built-in job, in the order in which results name them.
std::vector<AxisKind> const& axis_kinds();
/// All of a job, which outlives them. A job whose sink takes one tile at a time has no `sink`.
std::vector<AxisKind> axis_kinds(Job const& job);

/// Sets what the option `--name` sets, a job's own as well, and says it the way it is said in results: "1", "4096",
/// "callback", "busy:20us".
///
/// Throws: Error of kind bad_argument, with what would do.
std::string set(Setting& setting, std::string_view name, std::string const& value);
/// Sets an option of the job that need not be named, to no value, to one, or to several if it takes them.
///
/// Throws: as `set`.
void set_own(Setting& setting, JobOption const& option, std::vector<std::string> const& values);

}  // namespace penstock::measure
