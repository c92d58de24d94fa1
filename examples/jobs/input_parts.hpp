// SPDX-License-Identifier: Apache-2.0
// The files of a job's input, or the parts of them that one run does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/ingest/files.hpp>
#include <penstock/job.hpp>

namespace penstock {

/// The files that `--input` names, or the parts of the point, for a FileSource.
inline FileSource::NextFile inputs_of(JobPoint const& point) {
  std::vector<InputFile> inputs;
  if (point.parts.empty()) {
    for (std::string const& path : point.values.texts("input")) inputs.push_back({.path = path});
  }
  for (JobPart const& part : point.parts) {
    InputFile& input = inputs.emplace_back(InputFile{.path = part.path});
    if (part.end != 0) input.range = FileRange{part.begin, part.end};
  }
  return [inputs = std::move(inputs), at = std::size_t{0}]() mutable {
    return at == inputs.size() ? std::nullopt : std::optional(inputs[at++]);
  };
}

}  // namespace penstock
