// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "engine/machine/output_file.hpp"
#include "programs/command/ending.hpp"
#include "programs/hash/hash_job.hpp"

namespace penstock::cli {

/// Writes the files of a hash job once all is hashed, and keeps the worst of what came of them.
///
/// Threads: one.
class FilesWritten {
 public:
  explicit FilesWritten(HashJob& job) : job_(job) {}

  /// Has `write` write a file, unless it is null. A file that was among the inputs stays as it was, which a line on
  /// standard error says. `what` names its content.
  void put(OutputFile* file, std::string const& what, std::function<void(OutputFile&)> const& write);
  /// exit_ok; exit_some_failed after a file that was read, exit_device after one that did not take all.
  ExitCode code() const noexcept { return code_; }
  /// The exit code of a run that otherwise ends with `code`.
  ExitCode code_after(ExitCode code) const noexcept;

 private:
  HashJob& job_;
  ExitCode code_ = exit_ok;
};

/// Writes the page of a job whose summary was made.
///
/// Throws: as OutputFile::write.
void write_hash_page(OutputFile& file, HashJob& job, std::string const& command_line);

}  // namespace penstock::cli
