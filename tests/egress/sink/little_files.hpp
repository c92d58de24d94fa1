// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

namespace penstock::support {

/// No file of this process may be larger. What the system had is restored.
class FilesOfAtMost {
 public:
  explicit FilesOfAtMost(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit const little{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
  }
  FilesOfAtMost(FilesOfAtMost const&) = delete;
  FilesOfAtMost& operator=(FilesOfAtMost const&) = delete;
  ~FilesOfAtMost() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace penstock::support
