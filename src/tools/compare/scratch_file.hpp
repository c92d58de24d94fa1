// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// A file for a moment, where the system has room for such (TMPDIR, or /tmp). It has no name there, so that nothing is
/// left of it however this process ends.
class ScratchFile {
 public:
  /// Throws: Error of kind bad_argument, if none can be made.
  ScratchFile();
  ScratchFile(ScratchFile const&) = delete;
  ScratchFile& operator=(ScratchFile const&) = delete;
  ~ScratchFile();

  /// By which this process and those that it starts can open it, while it lives.
  std::string const& path() const noexcept { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace penstock::cli
