// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/files_written.hpp"

#include "penstock/error.hpp"
#include "programs/command/program.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {

void FilesWritten::put(OutputFile* file, std::string const& what, std::function<void(OutputFile&)> const& write) {
  if (file == nullptr) return;
  if (job_.reads(file)) {
    job_.progress().complain(message_of(file->path() +
                                        " is among what was read, so it was left as it is and there is no " + what +
                                        ": name another file."));
    if (code_ == exit_ok) code_ = exit_some_failed;
    return;
  }
  try {
    write(*file);
  } catch (Error const& error) {
    job_.progress().complain(message_of(error.what()));
    code_ = exit_device;
  }
}

ExitCode FilesWritten::code_after(ExitCode code) const noexcept {
  return code == exit_interrupted || code_ == exit_ok ? code : code_;
}

void write_hash_page(OutputFile& file, HashJob& job, std::string const& command_line) {
  write_page(file, job.output().page_results(command_line), title_of("hash"));
}

}  // namespace penstock::cli
