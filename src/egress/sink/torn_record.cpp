// SPDX-License-Identifier: Apache-2.0
#include "egress/sink/torn_record.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t looked_at = std::uint64_t{64} << 10U;

/// End of the last record within the first `size` bytes; 0 if there is none.
std::uint64_t last_end(int file, std::string const& path, std::uint64_t size, std::string const& record_end) {
  std::string part;
  std::uint64_t const overlap = record_end.size() - 1;
  for (std::uint64_t end = size; end > overlap; end = end - part.size() + overlap) {
    part.resize(static_cast<std::size_t>(std::min(end, looked_at + overlap)));
    std::uint64_t const begin = end - part.size();
    if (pread(file, part.data(), part.size(), static_cast<off_t>(begin)) != static_cast<ssize_t>(part.size())) {
      throw Error(ErrorKind::system, path + ": it cannot be seen where its last record ends (" + system_problem(errno) +
                                         "). Let one program at a time write to it.");
    }
    if (auto const found = part.rfind(record_end); found != std::string::npos) return begin + found + record_end.size();
    if (begin == 0) break;
  }
  return 0;
}

}  // namespace

std::uint64_t cut_torn_record(std::string const& path, std::string const& record_end) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  Descriptor const file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (file.number < 0 || fstat(file.number, &status) != 0) {
    throw Error(ErrorKind::bad_argument, path + ": it cannot be seen where its last record ends (" +
                                             system_problem(errno) + "). Let it be read, or name another file.");
  }
  auto const size = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t const end = last_end(file.number, path, size, record_end);
  if (end == size || ftruncate(file.number, static_cast<off_t>(end)) == 0) return size - end;
  throw Error(ErrorKind::system,
              path + ": its torn last record cannot be cut off (" + system_problem(errno) + "). Name another file.");
}

}  // namespace penstock
