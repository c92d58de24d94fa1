// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/machine/output_file.hpp"
#include "observe/cupti/activity_log.hpp"
#include "penstock/observe.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"

namespace penstock::cli {

/// A file that an option names.
struct NamedFile {
  std::string option;             ///< "--trace", say.
  std::string path;               ///< Empty if the option was not given; "-" for standard input.
  std::string rewritten_by = {};  ///< Another option that may name it too, since it is read before that is written.
  bool whole_folder = true;       ///< All files of a folder are read; otherwise the command itself checks which.
};

/// Checks that each of `written` is none of `read`, in none of their folders, no other of `written` and not the file of
/// standard output or standard error. It compares files, not names. Nothing is opened.
///
/// Throws: Error of kind bad_argument.
void expect_apart(std::span<NamedFile const> read, std::span<NamedFile const> written);

/// The files that a command is to write, found and held before it measures anything for them.
///
/// Threads: one at a time.
class FilesToWrite {
 public:
  /// Checks that they are apart, and that each of `written` can be written. Nothing is made or changed.
  ///
  /// Blocks: as OutputFile.
  /// Throws: as `expect_apart` and OutputFile.
  FilesToWrite(std::span<NamedFile const> read, std::span<NamedFile const> written, std::stop_token const& stop);

  /// The file of this option; null if it was not given.
  OutputFile* of(std::string_view option);

 private:
  std::deque<std::pair<std::string, OutputFile>> files_;
};

/// The options by which a command that runs pipelines writes a trace of one, and shows all of them to profilers.
struct TraceArguments {
  std::string file;  ///< Empty for none.
  std::uint64_t every = 1;
  std::string with = "events";  ///< "events" or "cupti".
  bool nvtx = false;

  /// `of` is what the trace shows, as in "the run".
  void add_to(CLI::App& command, std::string const& of);
  /// Adds the options of the trace only.
  void add_trace_to(CLI::App& command, std::string const& of);
  /// Returns the options as arguments of another command, which writes to `path`; empty for no trace.
  std::vector<std::string> arguments(std::string const& path) const;
  /// Throws: Error of kind bad_argument, if the options do not go together, or not with this build.
  void check() const;
  /// The file for FilesToWrite.
  NamedFile named() const { return {"--trace", file}; }
  /// A recorder with room for some 100'000 tiles, which keeps fewer of longer runs; null if no trace is asked for.
  std::unique_ptr<Recorder> recorder() const;
  /// The ranges of a pipeline, if CUPTI was asked for: null if it was not, or if it is not available, which is reported
  /// on standard error.
  std::unique_ptr<ActivityLog> activity_log(Recorder* recorder) const;
  /// The ranges without CUPTI: null if no profiler is to see any.
  std::unique_ptr<Ranges> nvtx_ranges() const;
};

/// Has `write` write a file.
///
/// Throws: as OutputFile::write.
void write_trace_file(OutputFile& file, std::function<void(std::ostream&)> const& write);
/// Has the file written with such a trace.
///
/// Throws: likewise.
void write_trace_file(OutputFile& file, Recording const& recording, TraceFacts const& facts);

/// A line on how much of a run of `wall` the trace shows, and on the cost of recording it; below it the table of spans,
/// if there are any.
std::string traced_text(std::string const& path, Recording const& recording, std::chrono::nanoseconds wall);

}  // namespace penstock::cli
