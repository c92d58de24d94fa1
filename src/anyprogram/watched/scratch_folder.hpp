// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/core/descriptor.hpp"

namespace penstock::cli {

/// A temporary folder in the system's place for such (TMPDIR, or /tmp), which is removed with this object.
///
/// The process holds the folder's lock, which the system releases when the process ends, however it ends. By this
/// folders of processes that were killed are recognised, and are removed when the next one is made.
///
/// Threads: one at a time.
class ScratchFolder {
 public:
  /// Throws: Error of kind bad_argument, if it cannot be made.
  ScratchFolder();
  ScratchFolder(ScratchFolder const&) = delete;
  ScratchFolder& operator=(ScratchFolder const&) = delete;
  ~ScratchFolder();

  std::string const& path() const noexcept { return path_; }

 private:
  bool lock();

  std::string path_;
  Descriptor folder_;
};

}  // namespace penstock::cli
