// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock::cli {

/// How a program's file reaches the libraries that it needs.
enum class ProgramKind : std::uint8_t {
  dynamic,       ///< By the dynamic linker of this machine, which also loads libraries of ours.
  linked_whole,  ///< It has all in itself: no library can be put between.
  foreign,       ///< For another kind of processor, or of 32 bits.
  script         ///< An interpreter runs it.
};

/// A program that can be started.
struct ProgramFile {
  std::string path = {};  ///< With a slash in it.
  ProgramKind kind = ProgramKind::dynamic;
  bool takes_rights =
      false;  ///< It is set-uid or set-gid, or has capabilities: the system keeps libraries of ours out.
};

/// Finds a program as a shell does: a name without a slash in the folders of PATH.
///
/// Throws: Error of kind bad_argument, if there is none that can be started, with what to do.
ProgramFile find_program(std::string const& name);

}  // namespace penstock::cli
