// SPDX-License-Identifier: Apache-2.0
// The files of patterns of the job `lines`.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <penstock/error.hpp>
#include <penstock/ingest/files.hpp>
#include <penstock/job.hpp>
#include <penstock/lines.hpp>

namespace penstock {

using Patterns = std::optional<Literals>;  // Nothing: all lines count.

/// Contents of files of patterns. Each is read once, as a pipe gives it only once.
///
/// Threads: any.
class PatternFiles {
 public:
  /// Throws: Error of kind bad_argument, if the file cannot be read, or its lines are no literals.
  std::shared_ptr<Patterns const> of(JobPoint const& point) {
    std::string const& path = point.values.text("patterns");
    std::scoped_lock const lock(mutex_);
    auto& patterns = read_[path];
    if (patterns == nullptr) patterns = std::make_shared<Patterns const>(read(path, point.stop));
    return patterns;
  }

 private:
  static Patterns read(std::string const& path, std::stop_token const& stop) try {
    if (path.empty()) return {};
    std::string const text = read_text(path, stop);
    if (text.empty()) {
      throw Error(ErrorKind::bad_argument,
                  "--patterns " + path + " is empty: put a pattern into each of its lines, or leave the option out.");
    }
    return literals_of_lines(text);
  } catch (FileProblem const& problem) {
    throw Error(ErrorKind::bad_argument, "--patterns " + std::string(problem.what()) + ".");
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Patterns const>> read_;
};

}  // namespace penstock
