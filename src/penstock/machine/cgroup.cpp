// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/cgroup.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "penstock/machine/system_file.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

template <class Number>
void lower(std::optional<Number>& limit, Number to) {
  limit = limit ? std::min(*limit, to) : to;
}

/// The directory of `group` below `mount` and all above it, up to the mount itself.
///
/// A container without a cgroup namespace is told its group's path on the host, which its own mount does not have; the
/// mount is then the group, so directories that are absent do no harm.
std::vector<fs::path> lineage(fs::path const& mount, fs::path const& group) {
  std::vector<fs::path> directories{mount};
  for (auto const& part : group.relative_path()) directories.push_back(directories.back() / part);
  return directories;
}

void read_unified(fs::path const& directory, CgroupLimits& limits) {
  if (auto const text = read_system_file(directory / "cpu.max")) {
    auto const quota = leading_number(*text);
    auto const period = leading_number(std::string_view(*text).substr(std::min(text->find(' '), text->size())));
    if (quota && period && *quota > 0 && *period > 0) {
      lower(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
    }
  }
  if (auto const text = read_system_file(directory / "memory.max")) {
    if (auto const bytes = leading_number(*text); bytes && *bytes >= 0)
      lower(limits.memory_bytes, static_cast<std::uint64_t>(*bytes));
  }
}

void read_cpu_controller(fs::path const& directory, CgroupLimits& limits) {
  auto const quota = leading_number(read_system_file(directory / "cpu.cfs_quota_us").value_or(""));
  auto const period = leading_number(read_system_file(directory / "cpu.cfs_period_us").value_or(""));
  if (quota && period && *quota > 0 && *period > 0) {
    lower(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
  }
}

void read_memory_controller(fs::path const& directory, CgroupLimits& limits) {
  // Version 1 writes "no limit" as the largest multiple of the page size in 63 bits.
  constexpr std::int64_t no_limit = std::int64_t{1} << 60;
  auto const bytes = leading_number(read_system_file(directory / "memory.limit_in_bytes").value_or(""));
  if (bytes && *bytes >= 0 && *bytes < no_limit) lower(limits.memory_bytes, static_cast<std::uint64_t>(*bytes));
}

}  // namespace

std::size_t CgroupLimits::busy_threads(std::size_t usable_cpus) const noexcept {
  if (!cpus || *cpus >= static_cast<double>(usable_cpus)) return std::max<std::size_t>(1, usable_cpus);
  return static_cast<std::size_t>(std::max(1.0, std::ceil(*cpus)));
}

CgroupLimits CgroupLimits::read(fs::path const& root) {
  CgroupLimits limits;
  fs::path const mounts = root / "sys/fs/cgroup";
  // Each line is "hierarchy:controllers:group"; version 2 has hierarchy 0 and no controllers.
  std::istringstream lines(read_system_file(root / "proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    auto const first = line.find(':');
    auto const second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    std::string const controllers = line.substr(first + 1, second - first - 1);
    std::string const group = line.substr(second + 1);
    auto const names = ',' + controllers + ',';
    if (controllers.empty()) {
      for (auto const& mount : {mounts, mounts / "unified"}) {
        for (auto const& directory : lineage(mount, group)) read_unified(directory, limits);
      }
    }
    if (names.find(",cpu,") != std::string::npos) {
      for (auto const& directory : lineage(mounts / controllers, group)) read_cpu_controller(directory, limits);
      for (auto const& directory : lineage(mounts / "cpu", group)) read_cpu_controller(directory, limits);
    }
    if (names.find(",memory,") != std::string::npos) {
      for (auto const& directory : lineage(mounts / "memory", group)) read_memory_controller(directory, limits);
    }
  }
  return limits;
}

}  // namespace penstock
