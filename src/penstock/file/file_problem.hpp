// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "penstock/core/error.hpp"

namespace penstock {

/// What others did to a file while it was being read.
enum class FileChange { none, shrank, grew, changed, relinked };

/// Why a file cannot be read, or what it gave cannot be used.
class FileProblem : public Error {
 public:
  /// `sentence` does not name the file.
  explicit FileProblem(std::string sentence, FileChange change = FileChange::none)
      : Error(ErrorKind::system, sentence), sentence_(std::move(sentence)), change_(change) {}
  /// The same problem, in a text that begins with the file's name.
  FileProblem(std::string const& name, FileProblem const& problem)
      : Error(problem.kind(), name + ": " + problem.sentence_),
        sentence_(problem.sentence_),
        change_(problem.change_) {}

  /// Without the file's name.
  std::string const& sentence() const noexcept { return sentence_; }
  FileChange change() const noexcept { return change_; }

 private:
  std::string sentence_;
  FileChange change_;
};

}  // namespace penstock
