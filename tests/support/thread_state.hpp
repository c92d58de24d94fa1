// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include <sys/types.h>

namespace penstock::support {

/// Waits until a thread of this process sleeps or has ended. It may sleep on anything, and be on its way to sleep:
/// another thread that briefly holds a lock can make it seem asleep, too.
///
/// Blocks: until then; for ever, if the thread always has work.
inline void await_asleep(pid_t thread) {
  for (;; std::this_thread::yield()) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string const line{std::istreambuf_iterator<char>(file), {}};
    if (line.empty()) return;
    // The state follows the name, which is in brackets and may hold anything.
    auto const name_end = line.rfind(')');
    if (name_end != std::string::npos && line.compare(name_end, 3, ") S") == 0) return;
  }
}

/// Number of times that a thread of this process has given up its CPU to wait for something.
inline std::uint64_t times_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(file, line);) {
    std::string const name = "voluntary_ctxt_switches:";
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()));
  }
  return 0;
}

}  // namespace penstock::support
