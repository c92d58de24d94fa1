// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/cupti/activity_log.hpp"
#include "penstock/recorder.hpp"
#include "penstock/report.hpp"
#include "tools/command/named_files.hpp"

namespace penstock::cli {

/// The options by which a command that runs pipelines writes a trace of one, and shows all of them to profilers.
struct TraceArguments {
  std::string file;  ///< Empty for none.
  std::uint64_t every = 1;
  std::string with = "events";  ///< Or "cupti".
  bool nvtx = false;

  /// `of` is what the trace shows, as in "the run".
  void add_to(CLI::App& command, std::string const& of);
  /// Those of the trace only.
  void add_trace_to(CLI::App& command, std::string const& of);
  /// The same as arguments of another command, which writes to `path`; empty for no trace.
  std::vector<std::string> arguments(std::string const& path) const;
  /// Throws: Error of kind bad_argument, if the options do not go together, or not with this build.
  void check() const;
  /// For FilesToWrite.
  NamedFile named() const { return {"--trace", file}; }
  /// A recorder with room for some 100'000 tiles, which keeps fewer of longer runs; null if no trace is asked for.
  std::unique_ptr<Recorder> recorder() const;
  /// The ranges of a pipeline, if CUPTI was asked for: null if it was not, or if it cannot be had, which is said on
  /// standard error.
  std::unique_ptr<ActivityLog> activity_log(Recorder* recorder) const;
  /// The ranges otherwise: null if no profiler is to be shown anything.
  std::unique_ptr<Ranges> nvtx_ranges() const;
};

/// Has a file written by `write`.
///
/// Throws: as OutputFile::write.
void write_trace_file(OutputFile& file, std::function<void(std::ostream&)> const& write);
/// With such a trace.
///
/// Throws: likewise.
void write_trace_file(OutputFile& file, Recording const& recording, TraceFacts const& facts);

/// In a line, how much of a run of `wall` the trace shows, and what it took to record it.
std::string traced_text(std::string const& path, Recording const& recording, std::chrono::nanoseconds wall);

}  // namespace penstock::cli
