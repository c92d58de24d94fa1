// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <vector>

namespace penstock::cli {

/// What a program said and how it ended.
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

/// What a program of ours complained of, without the program's name and the end of the line; never empty.
std::string complaint_of(ChildEnd const& end);

/// The program that is running.
///
/// Throws: Error of kind system, if the system does not say where that is.
std::string this_program();

/// The program of that name in the folder of the one that is running.
///
/// Throws: likewise.
std::string sibling_program(std::string const& name);

}  // namespace penstock::cli
