// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock::cli {

/// Ways in which a program is linked.
enum class ProgramKind : std::uint8_t {
  dynamic,       ///< The dynamic linker loads its libraries, and can load ours.
  linked_whole,  ///< Linked with -static: the dynamic linker cannot load a library into it.
  foreign,       ///< Built for another kind of processor, or for 32 bits.
  script         ///< An interpreter runs it.
};

/// A program that can be started.
struct ProgramFile {
  std::string path = {};  ///< A path with a slash in it.
  ProgramKind kind = ProgramKind::dynamic;
  /// It is set-uid or set-gid, or has capabilities, so the dynamic linker ignores LD_PRELOAD.
  bool takes_rights = false;
};

/// Finds a program as a shell does: it looks for a name without a slash in the folders of PATH.
///
/// Throws: Error of kind bad_argument with a remedy, if there is no such program, or it cannot be started.
ProgramFile find_program(std::string const& name);

/// Finds a program into which the system loads libraries of ours, and returns its path.
///
/// Throws: likewise, and if it would not: the program takes rights, is linked with -static, or is for another
/// processor.
std::string find_loading_program(std::string const& name);

}  // namespace penstock::cli
