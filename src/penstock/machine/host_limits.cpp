// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/host_limits.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <sys/resource.h>

#include "penstock/machine/cgroup.hpp"
#include "penstock/machine/system_file.hpp"

namespace penstock {
namespace {

/// What follows "key", blanks and a colon in the first line of `text` that has it.
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

}  // namespace penstock
