// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/scratch_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "penstock/core/error.hpp"
#include "penstock/core/failure_text.hpp"

namespace penstock::cli {
namespace {

int unnamed_file(std::string const& folder) {
  int const unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  // Not every file system has files without a name from the start.
  std::string pattern = folder + "/penstock-XXXXXX";
  int const named = mkostemp(pattern.data(), O_CLOEXEC);
  if (named >= 0) unlink(pattern.c_str());
  return named;
}

}  // namespace

ScratchFile::ScratchFile() {
  char const* const chosen = std::getenv("TMPDIR");
  std::string const folder = chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
  descriptor_ = unnamed_file(folder);
  if (descriptor_ < 0) {
    std::error_code const problem(errno, std::generic_category());
    if (auto const error = shortage("A file in " + folder, problem)) throw *error;
    throw Error(ErrorKind::bad_argument, "No file can be made in " + folder + ": " + problem.message() +
                                             ". Let TMPDIR name a folder that can be written.");
  }
  path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_);
}

ScratchFile::~ScratchFile() {
  close(descriptor_);
}

}  // namespace penstock::cli
