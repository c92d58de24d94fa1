// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "anyprogram/injection/watch_log.hpp"

namespace penstock::cli {

using WatchRecord = watch_log::Record;
using WatchCall = watch_log::Call;
using WatchKind = watch_log::Kind;

struct WatchedThread {
  std::uint64_t system = 0;  ///< Its number in the system.
  std::string name = {};
};

struct WatchedDevice {
  std::uint64_t multiprocessors = 0;
  std::uint64_t threads_of_one = 0;  ///< Threads that a multiprocessor has room for.
};

/// The log of one process, in memory.
struct WatchLog {
  std::uint32_t process = 0;
  std::uint32_t parent = 0;
  std::string program = {};
  std::uint64_t began = 0;
  std::uint64_t ended = 0;    ///< 0: it did not come to its end, or this part of the log is missing.
  std::uint64_t full_at = 0;  ///< 0: the log is complete. Otherwise later records were only counted.
  watch_log::Refusal refusal = watch_log::Refusal::none;
  std::uint64_t refusal_code = 0;
  std::uint64_t lost = 0;  ///< Activities for which CUPTI had no room.

  std::vector<WatchRecord> calls = {};       ///< Calls ordered by their begin.
  std::vector<WatchRecord> activities = {};  ///< Activities ordered by their begin.
  std::map<std::uint32_t, WatchedThread> threads = {};
  std::map<std::uint64_t, std::string> kernel_names = {};
  std::map<std::uint32_t, std::string> call_names = {};
  std::map<std::uint64_t, std::vector<WatchRecord>> graphs = {};  ///< Their nodes, by their begin.
  std::map<std::uint32_t, WatchedDevice> devices = {};
  std::vector<watch_log::Total> call_totals = {};      ///< Totals of calls that were only counted, by WatchCall.
  std::vector<watch_log::Total> activity_totals = {};  ///< Totals of activities that were only counted, by WatchKind.
};

/// Reads a log. One that ends too early, or whose process was killed, has the records written until then.
///
/// Throws: Error of kind bad_argument, if that is no log.
WatchLog read_watch_log(std::span<std::byte const> bytes);

/// The reason, a watch_log::Refusal, why a process was not watched, and what to do.
std::string refusal_text(std::uint64_t refusal, std::uint64_t code);

/// Name of the driver's call; a description, if the log has no name for it.
std::string call_name(WatchLog const& log, WatchRecord const& call);
/// "thread 2 (worker)".
std::string thread_name(WatchLog const& log, std::uint32_t thread);
/// The stream of a call: "the legacy default stream", "the per-thread default stream", or by its handle.
std::string stream_name(std::uint64_t stream);

}  // namespace penstock::cli
