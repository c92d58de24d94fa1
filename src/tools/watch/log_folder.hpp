// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/watch/log.hpp"

namespace penstock::cli {

/// A folder to which the processes of a program write their logs.
class LogFolder {
 public:
  /// Makes it, or takes one that is empty. An empty name: one that is removed in the end.
  ///
  /// Throws: Error of kind bad_argument, if it cannot be made or has files in it.
  explicit LogFolder(std::string const& name);
  LogFolder(LogFolder const&) = delete;
  LogFolder& operator=(LogFolder const&) = delete;
  ~LogFolder();

  std::string const& path() const noexcept { return path_; }
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
