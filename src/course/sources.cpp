// SPDX-License-Identifier: Apache-2.0
#include "course/sources.hpp"

namespace penstock::lab {

std::vector<SourceFile> sources_of(std::string_view experiment) {
  std::vector<SourceFile> files;
  for (SourceRow const& row : source_rows()) {
    if (row.experiment == experiment) files.push_back(row.file);
  }
  return files;
}

}  // namespace penstock::lab
