// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

namespace penstock::support {

/// A file in memory, mapped twice: writes to one mapping are read in the other.
class MappedFile {
 public:
  explicit MappedFile(std::size_t bytes, unsigned flags = 0)
      : file_(memfd_create("tiles", MFD_CLOEXEC | flags)), first_(map(bytes, true)), second_(map(bytes, false)) {}
  MappedFile(MappedFile const&) = delete;
  MappedFile& operator=(MappedFile const&) = delete;
  ~MappedFile() {
    munmap(first_.data(), first_.size());
    munmap(second_.data(), second_.size());
    close(file_);
  }
  std::span<std::byte> bytes() const noexcept { return first_; }
  std::span<std::byte const> elsewhere() const noexcept { return second_; }

 private:
  std::span<std::byte> map(std::size_t bytes, bool sets_size) const {
    bool const sized = !sets_size || ftruncate(file_, static_cast<off_t>(bytes)) == 0;
    void* const at = sized ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0) : MAP_FAILED;
    if (at == MAP_FAILED) throw std::runtime_error("the system has no such memory");
    return {static_cast<std::byte*>(at), bytes};
  }

  int const file_;
  std::span<std::byte> const first_;
  std::span<std::byte> const second_;
};

}  // namespace penstock::support
