// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/engine_times.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock {

std::vector<EngineTimes> engine_times(Recording const& recording) {
  std::vector<std::string> engines;
  std::vector<std::size_t> engine_of_row;
  for (RecordRow const& row : recording.rows) {
    auto const known = std::find(engines.begin(), engines.end(), row.engine);
    engine_of_row.push_back(static_cast<std::size_t>(known - engines.begin()));
    if (known == engines.end()) engines.push_back(row.engine);
  }
  std::vector<std::vector<Stretch>> work(engines.size());
  for (Passage const& passage : recording.passages) {
    work[engine_of_row.at(passage.row)].push_back({passage.begin, passage.end});
  }
  std::vector<EngineTimes> times;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    if (!engines[i].empty()) times.push_back({engines[i], Intervals(std::move(work[i]))});
  }
  return times;
}

}  // namespace penstock
