// SPDX-License-Identifier: Apache-2.0
// The files of patterns of the job `lines`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

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
    if (patterns == nullptr) {
      patterns = std::make_shared<Patterns const>(read(path, sample_of(point.values.texts("input")), point.stop));
    }
    return patterns;
  }

 private:
  /// The beginning of the first input that is a regular file, as it is; empty, if there is none. It changes only how
  /// fast patterns are found.
  static std::string sample_of(std::vector<std::string> const& inputs) {
    constexpr std::size_t most_bytes = std::size_t{256} << 10;
    std::string sample;
    for (std::string const& path : inputs) {
      std::error_code error;
      if (!std::filesystem::is_regular_file(path, error)) continue;
      sample.resize(most_bytes);
      std::ifstream file(path, std::ios::binary);
      file.read(sample.data(), static_cast<std::streamsize>(sample.size()));
      sample.resize(static_cast<std::size_t>(file.gcount()));
      break;
    }
    return sample;
  }
  static Patterns read(std::string const& path, std::string const& sample, std::stop_token const& stop) try {
    if (path.empty()) return {};
    std::string const text = read_text(path, stop);
    if (text.empty()) {
      throw Error(ErrorKind::bad_argument,
                  "--patterns " + path + " is empty: put a pattern into each of its lines, or leave the option out.");
    }
    return literals_of_lines(text, sample);
  } catch (FileProblem const& problem) {
    throw Error(ErrorKind::bad_argument, "--patterns " + std::string(problem.what()) + ".");
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Patterns const>> read_;
};

}  // namespace penstock
