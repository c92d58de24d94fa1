// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "anyprogram/watched/log.hpp"
#include "anyprogram/watched/scratch_folder.hpp"
#include "engine/core/descriptor.hpp"

namespace penstock::cli {

/// Maximum size of a log, unless another is named.
inline constexpr std::uint64_t usual_log_bytes = std::uint64_t{256} << 20;

/// The logs of a program, and notes on missing ones.
struct ReadLogs {
  std::vector<WatchLog> logs = {};  ///< Logs ordered by the time at which they began.
  std::vector<std::string> missing =
      {};  ///< Logs that cannot be read and processes that could make none, as sentences.
};

/// Maximum size of logs, from a text such as "256MiB".
///
/// Throws: Error of kind bad_argument, which names the option --limit, if no log can be so short or be read if it is so
///         long.
std::uint64_t log_limit(std::string const& size);

/// A folder to which the processes of a watched program write their logs.
class LogFolder {
 public:
  /// Makes it, or takes one that is empty. An empty name stands for one that is removed in the end.
  ///
  /// Throws: Error of kind bad_argument, if it cannot be made or written, or has files in it; of kind system, if there
  /// is
  ///         no memory for notes.
  explicit LogFolder(std::string const& name);
  LogFolder(LogFolder const&) = delete;
  LogFolder& operator=(LogFolder const&) = delete;
  ~LogFolder();

  /// The variables that a program must be started with, so that the driver loads our library into its processes, and
  /// these log here, each up to `log_bytes`. `libraries` is a folder of libraries, as for companion_library.
  ///
  /// Throws: Error of kind system, if the library is not there.
  std::vector<std::pair<std::string, std::string>> environment(std::uint64_t log_bytes,
                                                               std::string const& libraries = {}) const;
  /// The existing logs, by the time at which they began, and what is missing.
  ///
  /// Shape: once all processes of the program have ended.
  ReadLogs read() const;

 private:
  std::optional<ScratchFolder> scratch_;  ///< Set if the folder is removed in the end.
  std::string path_;
  Descriptor notes_;                   ///< A file without a name, in memory, that has
  watch_log::Notes* noted_ = nullptr;  ///< the notes of processes.
};

/// Throws: Error of kind bad_argument, if it cannot be read, or is no log.
WatchLog read_log_file(std::string const& path);

/// The results that `penstock watch --json` printed; empty if the file is no JSON.
///
/// Throws: Error of kind bad_argument, if it cannot be read, or is other JSON.
std::optional<nlohmann::ordered_json> read_results(std::string const& path);

}  // namespace penstock::cli
