// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/host_limits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

namespace penstock {
namespace {

namespace fs = std::filesystem;

/// All of one of the kernel's small text files, without the white space at its end; nothing if it cannot be read.
std::optional<std::string> read_system_file(std::filesystem::path const& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return std::nullopt;
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text;
}

/// The whole number at the start of `text`, after blanks; nothing if there is none or it is too large.
std::optional<std::int64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return std::nullopt;
  return number;
}

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

/// The number behind `name` in lines of "name number".
std::uint64_t number_of(std::string const& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ') {
      return static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, leading_number(line.substr(name.size())).value_or(0)));
    }
  }
  return 0;
}

/// Lowers `limits` to those of a group that may have `most` bytes. Its files tell how much of them is in use, and under
/// these names how much of that the kernel takes back before it lets the group run out.
void limit_memory(CgroupLimits& limits, std::uint64_t most, fs::path const& used, fs::path const& statistics,
                  std::initializer_list<std::string_view> reclaimable) {
  lower(limits.memory_bytes, most);
  auto const in_use = leading_number(read_system_file(used).value_or("")).value_or(0);
  auto const busy = static_cast<std::uint64_t>(std::max<std::int64_t>(0, in_use));
  std::string const statistics_text = read_system_file(statistics).value_or("");
  std::uint64_t kept = busy;
  for (std::string_view const name : reclaimable) kept -= std::min(kept, number_of(statistics_text, name));
  lower(limits.memory_left_bytes, most - std::min(most, kept));
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
    if (auto const bytes = leading_number(*text); bytes && *bytes >= 0) {
      limit_memory(limits, static_cast<std::uint64_t>(*bytes), directory / "memory.current", directory / "memory.stat",
                   {"inactive_file", "active_file", "slab_reclaimable"});
    }
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
  if (bytes && *bytes >= 0 && *bytes < no_limit) {
    limit_memory(limits, static_cast<std::uint64_t>(*bytes), directory / "memory.usage_in_bytes",
                 directory / "memory.stat", {"total_inactive_file", "total_active_file"});
  }
}

/// The text behind `key`, blanks and a colon in the first line of `text` that has them.
std::string field(std::string const& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string_view name = std::string_view(line).substr(0, colon);
    name = name.substr(0, name.find_last_not_of(" \t") + 1);
    if (name == key) return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
  }
  return {};
}

std::uint64_t number(std::string const& text) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, leading_number(text).value_or(0)));
}

/// The word in brackets of "always [madvise] never".
std::string chosen(std::string const& text) {
  auto const open = text.find('['), close = text.find(']');
  return open < close && close != std::string::npos ? text.substr(open + 1, close - open - 1) : std::string();
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

HostLimits HostLimits::read(std::filesystem::path const& root) {
  auto const text = [&](char const* path) { return read_system_file(root / path).value_or(""); };
  constexpr std::uint64_t kibibyte = 1024;
  std::string const memory = text("proc/meminfo");
  HostLimits limits;
  limits.hostname = text("proc/sys/kernel/hostname");
  limits.kernel = text("proc/sys/kernel/osrelease");
  limits.cpu_model = field(text("proc/cpuinfo"), "model name");
  limits.memory_bytes = number(field(memory, "MemTotal")) * kibibyte;
  limits.memory_available_bytes = number(field(memory, "MemAvailable")) * kibibyte;
  CgroupLimits const group = CgroupLimits::read(root);
  limits.cgroup_memory_bytes = group.memory_bytes;
  limits.cgroup_memory_left_bytes = group.memory_left_bytes;
  limits.transparent_huge_pages = chosen(text("sys/kernel/mm/transparent_hugepage/enabled"));
  limits.huge_page_bytes = number(field(memory, "Hugepagesize")) * kibibyte;
  limits.free_huge_pages = number(field(memory, "HugePages_Free"));
  if (rlimit memlock{}; getrlimit(RLIMIT_MEMLOCK, &memlock) == 0 && memlock.rlim_cur != RLIM_INFINITY) {
    limits.memlock_bytes = memlock.rlim_cur;
  }
  return limits;
}

double cpu_seconds() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto const seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace penstock
