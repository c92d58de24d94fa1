// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "penstock/core/error.hpp"

namespace penstock::cli {

ScratchFolder::ScratchFolder() {
  std::error_code none;
  auto const place = std::filesystem::temp_directory_path(none);
  path_ = (none ? "/tmp" : place.string()) + "/penstock-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) {
    throw Error(ErrorKind::system, "No folder can be made as " + path_ + ": " + std::strerror(errno) +
                                       ". Let TMPDIR name one that can be written.");
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace penstock::cli
