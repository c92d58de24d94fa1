// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/descriptor.hpp"
#include "penstock/device.hpp"

namespace penstock::cli {

/// "0.2.0, legacy default stream, without CUDA".
std::string build_text(std::string_view version, Flavour flavour, bool with_cuda);
/// The command line, with quotes where a shell needs them.
std::string command_text(int count, char const* const* arguments);

/// Name of this program in messages, titles and traces: the name that it was started by, without the folder and without
/// the "-legacy" of the other flavour. "penstock", or the name of a job's program.
std::string_view program_name() noexcept;
/// "penstock: ", the sentence and a line break.
std::string message_of(std::string_view sentence);
/// Prints that on standard error.
///
/// Threads: any.
void tell(std::string_view sentence) noexcept;
/// "penstock bench", of "bench": the title of its page and the name of its process in a trace.
std::string title_of(std::string_view command);

/// The commit that this build was made of, with "-dirty" behind it if there were changes; empty if that is not known.
std::string commit();

/// Output of a program and the way it ended.
struct ChildEnd {
  int code = 0;  ///< Its exit code; 128 and the signal's number, if a signal ended it.
  std::string output;
  std::string complaint;  ///< Its standard error.
};

/// Runs a program to its end, with an empty standard input. Once `stop` is requested it gets a SIGTERM; if this process
/// dies, it is killed.
///
/// Shape:  arguments[0] is the program's path.
/// Blocks: until it has ended.
/// Throws: Error of kind system, if it cannot be started.
ChildEnd run_child(std::vector<std::string> const& arguments, std::stop_token const& stop = {});

/// The complaint of a program of ours, without the program's name and the end of the line; never empty.
std::string complaint_of(ChildEnd const& end);

/// The program that is running.
///
/// Throws: Error of kind system, if the system does not say where that is.
std::string this_program();

/// The program of that name in the folder of the one that is running.
///
/// Throws: likewise.
std::string sibling_program(std::string const& name);

/// A library that the system loads into other programs for us. It is looked for beside the running program, as in a
/// build and a bundle; in its place relative to the programs of an installation; and in `folder`, unless that is empty.
///
/// Throws: likewise, or if it is in none of these.
std::string companion_library(std::string const& name, std::string const& folder = {});

/// A temporary file in the system's place for such files (TMPDIR, or /tmp). It has no name there, so that nothing is
/// left of it however this process ends.
class ScratchFile {
 public:
  /// Throws: Error of kind bad_argument, if none can be made.
  ScratchFile();

  /// The path by which this process and its children can open it, while it lives.
  std::string const& path() const noexcept { return path_; }

 private:
  Descriptor file_;
  std::string path_;
};

}  // namespace penstock::cli
