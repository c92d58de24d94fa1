// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/host_load.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <unistd.h>

namespace penstock {
namespace {

std::chrono::nanoseconds tick() noexcept {
  long const a_second = sysconf(_SC_CLK_TCK);
  return std::chrono::nanoseconds(1'000'000'000 / (a_second > 0 ? a_second : 100));
}

}  // namespace

HostLoad::HostLoad(CpuSet cpus, std::filesystem::path root)
    : cpus_(std::move(cpus)),
      root_(std::move(root)),
      since_(std::chrono::steady_clock::now()),
      idle_before_(idle_so_far()) {}

std::optional<std::chrono::nanoseconds> HostLoad::idle_so_far() const {
  std::ifstream file(root_ / "proc/stat");
  std::size_t found = 0;
  std::chrono::nanoseconds sum{0};
  // Lines of CPUs come first: "cpu3 user nice system idle iowait ...".
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    if (line.size() < 4 || line[3] == ' ') continue;  // This line is for all CPUs together.
    int cpu = 0;
    std::int64_t user = 0, nice = 0, system = 0, idle = 0, io_wait = 0;
    if (!(words >> cpu >> user >> nice >> system >> idle) || !cpus_.contains(cpu)) continue;
    if (!(words >> io_wait)) io_wait = 0;
    ++found;
    sum += (idle + io_wait) * tick();
  }
  if (found == 0 || found < cpus_.size()) return std::nullopt;
  return sum;
}

std::optional<std::chrono::nanoseconds> HostLoad::idle() const {
  auto const now = idle_so_far();
  if (!now || !idle_before_) return std::nullopt;
  return std::clamp(*now - *idle_before_, std::chrono::nanoseconds(0),
                    static_cast<std::int64_t>(cpus_.size()) * elapsed());
}

std::chrono::nanoseconds HostLoad::unsure() noexcept {
  return 2 * tick();
}

std::chrono::nanoseconds HostLoad::of_others(unsigned allowed, std::chrono::nanoseconds own) const {
  auto const unused = idle();
  if (!unused) return std::chrono::nanoseconds(0);
  return std::max(std::chrono::nanoseconds(0), allowed * elapsed() - own - *unused - unsure());
}

}  // namespace penstock
