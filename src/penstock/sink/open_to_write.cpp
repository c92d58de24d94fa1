// SPDX-License-Identifier: Apache-2.0
#include "penstock/sink/open_to_write.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>

#include "penstock/core/descriptor.hpp"
#include "penstock/core/failure_text.hpp"
#include "penstock/error.hpp"
#include "penstock/machine/new_file.hpp"

namespace penstock {

int open_to_write(std::string const& path, int flags) {
  constexpr mode_t as_umask_allows = 0666;
  int opened = -1;
  do {
    opened = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | flags, as_umask_allows);
  } while (opened < 0 && errno == EINTR);
  if (opened >= 0) return opened;
  std::error_code const problem(errno, std::generic_category());
  if (auto const error = shortage(path, problem)) throw Error(*error);
  throw Error(ErrorKind::bad_argument, path + ": " + problem.message() + ". Name a file that can be written.");
}

void sync_folder_of(std::string const& path) {
  std::filesystem::path const folder = std::filesystem::path(path).parent_path();
  Descriptor const opened(open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (opened.number >= 0) sync_folder(opened.number);
}

}  // namespace penstock
