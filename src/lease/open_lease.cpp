// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"
#include "penstock/lease/lease_source.hpp"

namespace penstock {
namespace {

class PayloadInput final : public LeaseInput {
 public:
  explicit PayloadInput(std::string payload) : payload_(std::move(payload)) {}
  std::uint64_t size() const override { return payload_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    if (!to.empty()) std::memcpy(to.data(), payload_.data() + offset, to.size());
  }

 private:
  std::string const payload_;
};

class FileInput final : public LeaseInput {
 public:
  explicit FileInput(LeaseWork const& work)
      : path_(work.path), offset_(work.offset), file_(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)) {
    struct stat status {};
    if (file_.number < 0 || fstat(file_.number, &status) != 0) {
      std::error_code const problem(errno, std::generic_category());
      if (auto const error = shortage(path_, problem)) throw Error(*error);
      throw Error(ErrorKind::system, path_ + ": " + system_problem(problem.value()) + ".");
    }
    auto const bytes = static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size));
    std::uint64_t const rest = bytes - std::min(bytes, offset_);
    size_ = work.length == LeaseWork::to_the_end ? rest : work.length;
    if (offset_ > bytes || size_ > rest)
      throw Error(ErrorKind::system, path_ + " has " + std::to_string(bytes) + " bytes, and the lease is of " +
                                         std::to_string(work.length) + " from byte " + std::to_string(offset_) +
                                         " on. Enqueue leases of the file as it is now.");
  }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    for (std::uint64_t at = offset_ + offset; !to.empty();) {
      ssize_t const got = pread(file_.number, to.data(), to.size(), static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Error(ErrorKind::system, path_ + ": " + system_problem(errno) + ".");
      if (got == 0)
        throw Error(ErrorKind::system, path_ + " became smaller while it was read. Enqueue leases of it anew.");
      at += static_cast<std::uint64_t>(got);
      to = to.subspan(static_cast<std::size_t>(got));
    }
  }

 private:
  std::string const path_;
  std::uint64_t const offset_;
  Descriptor const file_;
  std::uint64_t size_ = 0;
};

}  // namespace

std::unique_ptr<LeaseInput> open_lease(Lease const& lease) {
  if (lease.work.path.empty()) return std::make_unique<PayloadInput>(lease.work.payload);
  return std::make_unique<FileInput>(lease.work);
}

}  // namespace penstock
