// SPDX-License-Identifier: Apache-2.0
// Whatever the files of /proc and /sys hold, the host has limits that a pipeline can be made for. An input is the
// files' contents, one after the other, each ended by a 0.
#include <algorithm>
#include <array>
#include <cstdint>

#include "fuzz/harness.hpp"

#include "engine/machine/host_limits.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  static Folder const folder;
  constexpr std::array names{"proc/self/cgroup",
                             "proc/cpuinfo",
                             "proc/meminfo",
                             "sys/fs/cgroup/cpu.max",
                             "sys/fs/cgroup/memory.max",
                             "sys/fs/cgroup/cpu/cpu.cfs_quota_us",
                             "sys/fs/cgroup/cpu/cpu.cfs_period_us",
                             "sys/fs/cgroup/memory/memory.limit_in_bytes",
                             "sys/kernel/mm/transparent_hugepage/enabled"};
  for (char const* const name : names) folder.write(name, take_until(input, '\0'));
  CgroupLimits const group = CgroupLimits::read(folder.path());
  require(!group.cpus || *group.cpus > 0, "a quota is more than nothing");
  require(!group.memory_bytes || *group.memory_bytes < std::uint64_t{1} << 63, "a limit of memory is not negative");
  for (std::size_t const cpus : {std::size_t{0}, std::size_t{1}, std::size_t{64}}) {
    std::size_t const busy = group.busy_threads(cpus);
    require(busy >= 1 && busy <= std::max<std::size_t>(cpus, 1),
            "at least one thread can be busy, and no more than CPUs");
  }
  HostLimits const host = HostLimits::read(folder.path());
  require(host.cgroup_memory_bytes == group.memory_bytes, "both read the same files");
  require(host.cpu_model.find('\n') == std::string::npos, "a model takes one line");
}

}  // namespace penstock::fuzz
