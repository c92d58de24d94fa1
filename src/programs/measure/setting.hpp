// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "observe/option_table.hpp"
#include "penstock/job.hpp"
#include "penstock/options.hpp"

namespace penstock::measure {

/// One pipeline to be measured: a point of a sweep.
struct Setting {
  std::string device = {};  ///< Names of the devices, as open_devices takes them; empty for the only ones there are.
  /// The options that are asked for; all but the shape of a tile, which follows from its size and the job.
  PipelineOptions pipeline = {};
  bool lanes_as_producers = false;          ///< The pipeline has as many lanes as producers, whatever `pipeline` says.
  std::size_t tile = std::size_t{1} << 20;  ///< Bytes.
  Job const* job = nullptr;                 ///< The job, which outlives this. Null for the built-in one.
  JobValues values = {};                    ///< Values of the job's own options that are named.
  std::vector<JobPart> parts = {};          ///< The input, as JobPoint::parts.

  Job const& its_job() const;
  /// Throws: Error of kind bad_argument, if an option of the job is missing that must be named.
  void expect_required() const;
  /// The point that the job is asked for, with the values of all of its options.
  JobPoint point() const;
  /// Shape of a tile of it.
  ///
  /// Throws: Error of kind bad_argument, if the job cannot have such a tile.
  TileShape shape_of_tile() const;
  /// The pipeline's options. Threads that wait for a tile or a result spin as long as lanes do on their device, but 20
  /// us at most, unless the aim is latency.
  ///
  /// Throws: Error of kind bad_argument, if no pipeline can have all of them.
  PipelineOptions options() const;
};

/// An axis of a sweep, which may have several values: an option of a pipeline, or a property of the work on its tiles.
struct AxisKind {
  std::string_view name;
  std::string preset;                 ///< Its value if it is not named.
  OptionRow const* option = nullptr;  ///< Null if it is not an option of a pipeline.
  std::string_view sentence = {};     ///< Describes it, if it is not an option of a pipeline.
  std::string_view words = {};        ///< Some of what it takes, if it is not an option.

  /// True if stages, sources or sinks would notice it: no profile and no search chooses it.
  bool of_job() const { return option == nullptr || !option->in(named_in::profiles); }
  /// The text of --help, if the option is `value` when it is not named; if that is empty, its preset.
  std::string help(std::string const& value) const;
  /// The words that completion offers; empty for a number.
  std::string offered() const;
};
/// All of the built-in job, in the order in which results name them.
std::vector<AxisKind> const& axis_kinds();
/// All of a job, which outlives them. A job whose sink takes one tile at a time has no `sink`.
std::vector<AxisKind> axis_kinds(Job const& job);

/// Sets the value of the option `--name`, also of a job's own option, and returns it in the form of results: "1",
/// "4096", "callback", "busy:20us".
///
/// Throws: Error of kind bad_argument, with what would do.
std::string set(Setting& setting, std::string_view name, std::string const& value);
/// Sets an option of the job that need not be named, to no value, to one, or to several if it takes them.
///
/// Throws: as `set`.
void set_own(Setting& setting, JobOption const& option, std::vector<std::string> const& values);

}  // namespace penstock::measure
