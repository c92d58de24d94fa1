// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/mapped_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(std::span<std::byte> memory, std::size_t at, std::string const& what) {
  throw Error(ErrorKind::bad_argument, "Memory of the application for tiles, byte " + std::to_string(at) + " of " +
                                           std::to_string(memory.size()) + ": " + what);
}

/// Checks the system's list of what is mapped; if that cannot be read, nothing is known.
void expect_writable(std::span<std::byte> memory) {
  std::ifstream list("/proc/self/maps");
  if (!list) return;
  auto const begin = reinterpret_cast<std::uintptr_t>(memory.data());
  std::uintptr_t at = begin;
  std::uintptr_t const end = begin + memory.size();
  for (std::string line; at < end && std::getline(list, line);) {
    std::uintptr_t first = 0, last = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &last, rights) != 3 || last <= at) continue;
    if (first > at) break;
    if (std::strncmp(rights, "rw", 2) != 0) {
      refuse(memory, at - begin, "it cannot be written; map it with PROT_READ and PROT_WRITE.");
    }
    at = last;
  }
  if (at < end) {
    refuse(memory, at - begin, "nothing is mapped there; give memory that is, for as long as the pipeline lives.");
  }
}

/// Returns: 0, or why not.
int populate(std::span<std::byte> pages) {
  while (madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE) != 0) {
    if (errno != EINTR && errno != EAGAIN) return errno;
  }
  return 0;
}

/// Some pages from `at` on were refused.
[[noreturn]] void refuse_to_populate(std::span<std::byte> memory, std::size_t at, int why) {
  if (why == ENOMEM) {
    throw Error(ErrorKind::out_of_memory,
                "There is no memory for pages of the application's that tiles are cut from, " +
                    size_text(memory.size()) + ": use fewer or smaller tiles, or give this machine or container more.");
  }
  std::size_t const page = page_bytes();
  while (at + page < memory.size() && populate(memory.subspan(at, page)) == 0) at += page;
  refuse(memory, at,
         why == EFAULT ? "the system has no page for it; extend the file to the size of its mapping with ftruncate, or "
                         "reserve as many huge pages as are mapped."
                       : "the system has no page for it: " + std::string(std::strerror(why)) + ".");
}

}  // namespace

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t in_whole_pages(std::size_t bytes) {
  std::size_t const page = page_bytes();
  return (bytes + page - 1) / page * page;
}

void make_present(std::span<std::byte> memory, std::stop_token const& stop) {
  expect_writable(memory);
  constexpr std::size_t at_once = std::size_t{2} << 20;
  for (std::size_t done = 0; done < memory.size(); done += at_once) {
    if (stop.stop_requested()) {
      throw Error(ErrorKind::system, "Interrupted: " + size_text(memory.size()) +
                                         " of the application's memory for tiles were not yet ready.");
    }
    int const why = populate(memory.subspan(done, std::min(at_once, memory.size() - done)));
    if (why == EINVAL) return;  // An older kernel; what cannot be written was found above.
    if (why != 0) refuse_to_populate(memory, done, why);
  }
}

}  // namespace penstock
