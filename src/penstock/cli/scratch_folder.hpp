// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// A folder of this process's own where the system has room for such, which goes with all that is in it.
class ScratchFolder {
 public:
  /// Throws: Error of kind system, if none can be made.
  ScratchFolder();
  ScratchFolder(ScratchFolder const&) = delete;
  ScratchFolder& operator=(ScratchFolder const&) = delete;
  ~ScratchFolder();

  /// The path of a file of that name in it.
  std::string file(std::string const& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace penstock::cli
