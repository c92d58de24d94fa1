// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace penstock {

/// Counts the instructions that this process executes, outside of the kernel, in the thread that made this and in all
/// that are started later. Many virtual machines count none.
class InstructionCount {
 public:
  InstructionCount() {
    perf_event_attr what{};
    what.size = sizeof what;
    what.type = PERF_TYPE_HARDWARE;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.inherit = 1;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    file_ = static_cast<int>(::syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
  }
  InstructionCount(InstructionCount const&) = delete;
  InstructionCount& operator=(InstructionCount const&) = delete;
  ~InstructionCount() {
    if (file_ >= 0) ::close(file_);
  }

  /// Empty if the machine does not count.
  std::optional<std::uint64_t> so_far() const {
    std::uint64_t count = 0;
    if (file_ < 0 || ::read(file_, &count, sizeof count) != sizeof count || count == 0) return std::nullopt;
    return count;
  }

 private:
  int file_ = -1;
};

}  // namespace penstock
