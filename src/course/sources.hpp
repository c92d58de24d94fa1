// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace penstock::lab {

/// A program of the examples, as it was when this was built.
struct SourceFile {
  std::string_view path;  ///< From the root of the repository.
  std::string_view text;
};

/// One line of examples/course/experiments.txt, for one of its files.
struct SourceRow {
  std::string_view experiment;
  SourceFile file;
};

/// All lines, in their order. embed_sources.cmake writes this function.
std::span<SourceRow const> source_rows() noexcept;

/// The programs that show what an experiment is about; none if there is no such experiment.
std::vector<SourceFile> sources_of(std::string_view experiment);

}  // namespace penstock::lab
