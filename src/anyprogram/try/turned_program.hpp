// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "anyprogram/preload/turn_counts.hpp"
#include "engine/core/descriptor.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {

/// Shared memory that tells the library between a program and its driver what to do, and receives its counts.
///
/// Threads: one.
class TurnedProgram {
 public:
  enum class Mode : std::uint8_t { look, turn };

  /// Throws: Error, if the library is not there, or no file can be made for a moment.
  explicit TurnedProgram(Mode mode);
  TurnedProgram(TurnedProgram const&) = delete;
  TurnedProgram& operator=(TurnedProgram const&) = delete;
  ~TurnedProgram();

  /// The variables that a program must be started with.
  std::vector<std::pair<std::string, std::string>> environment() const;
  /// Counts of all processes that were started with them.
  preload::TurnCounts const& counts() const noexcept { return *counts_; }

 private:
  Mode const mode_;
  ScratchFile file_;
  Descriptor library_;  ///< Open, if its path has a letter that separates libraries.
  std::string library_path_;
  preload::TurnCounts* counts_ = nullptr;
};

/// A sentence on a program's calls: which default streams it means, and if others can make a difference.
///
/// Shape: of "look".
std::string sentence_on_streams(preload::TurnCounts const& counts);

}  // namespace penstock::cli
