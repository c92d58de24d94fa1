// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/watched/log.hpp"

namespace penstock::cli {

/// How long a log may become, if nothing else is said.
inline constexpr std::uint64_t usual_log_bytes = std::uint64_t{256} << 20;

/// A folder to which the processes of a program that is watched write their logs.
class LogFolder {
 public:
  /// Makes it, or takes one that is empty. An empty name: one that is removed in the end.
  ///
  /// Throws: Error of kind bad_argument, if it cannot be made or has files in it.
  explicit LogFolder(std::string const& name);
  LogFolder(LogFolder const&) = delete;
  LogFolder& operator=(LogFolder const&) = delete;
  ~LogFolder();

  /// The variables that a program must be started with, so that the driver loads our library into its processes, and
  /// these log here: each up to so many bytes. `libraries` is a folder of libraries, as companion_library has it.
  ///
  /// Throws: Error of kind system, if the library is not there.
  std::vector<std::pair<std::string, std::string>> environment(std::uint64_t log_bytes,
                                                               std::string const& libraries = {}) const;
  /// The logs that are there, by the time at which they began.
  ///
  /// Throws: Error, if one cannot be read.
  std::vector<WatchLog> read() const;

 private:
  std::string path_;
  bool removed_;  ///< In the end.
};

/// Throws: Error of kind bad_argument, if it cannot be read, or is no log.
WatchLog read_log_file(std::string const& path);

/// The results that `penstock watch --json` printed; empty if the file is no JSON.
///
/// Throws: Error of kind bad_argument, if it cannot be read, or is other JSON.
std::optional<nlohmann::ordered_json> read_results(std::string const& path);

}  // namespace penstock::cli
