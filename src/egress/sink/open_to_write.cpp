// SPDX-License-Identifier: Apache-2.0
#include "egress/sink/open_to_write.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

#include "engine/core/failure_text.hpp"
#include "engine/machine/new_file.hpp"
#include "penstock/error.hpp"

namespace penstock {

Descriptor open_to_write(std::string const& path, int flags, Ending const& ending) {
  constexpr mode_t as_umask_allows = 0666;
  constexpr int always = O_WRONLY | O_NONBLOCK | O_CREAT | O_CLOEXEC | O_NOCTTY;
  for (;;) {
    int const opened = open(path.c_str(), always | flags, as_umask_allows);
    if (opened >= 0) return Descriptor(opened);
    if (errno == EINTR) continue;
    struct stat status {};
    bool const is_pipe = errno == ENXIO && stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
    if (!is_pipe) break;
    if (ending.requested()) throw Error(ErrorKind::system, path + " is a pipe, and had no reader.");
    // The system tells whether a pipe has a reader only by opening it.
    ending.wait(std::chrono::milliseconds(20));
  }
  std::error_code const problem(errno, std::generic_category());
  if (auto const error = shortage(path, problem)) throw Error(*error);
  throw Error(ErrorKind::bad_argument, path + ": " + problem.message() + ". Name a file that can be written.");
}

int sync_folder_of(std::string const& path) {
  std::filesystem::path const folder = std::filesystem::path(path).parent_path();
  Descriptor const opened(open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return opened.number >= 0 ? sync_folder(opened.number) : errno;
}

}  // namespace penstock
