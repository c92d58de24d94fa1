// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/lab_trace.hpp"

#include <algorithm>
#include <vector>

#include "penstock/report/trace_text.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

void write_lab_trace(std::ostream& out, LabPlace const& place,
                     std::span<std::pair<std::string, lab::Observation> const> seen) {
  TraceText text(out);
  text.notes({{"device", place.device}, {"stream 0", place.flavour}});
  std::uint32_t process = 0;
  for (auto const& [name, observation] : seen) {
    text.name_process(++process, name + (observation.verdict.as_expected ? "" : ", NOT as expected"));
    std::vector<std::string> rows;
    for (lab::Interval const& interval : observation.intervals) {
      auto found = std::find(rows.begin(), rows.end(), interval.row);
      if (found == rows.end()) {
        found = rows.insert(rows.end(), interval.row);
        text.name_row(process, static_cast<std::uint32_t>(rows.size()), interval.row);
      }
      auto const row = static_cast<std::uint32_t>(found - rows.begin() + 1);
      text.slice(process, row, interval.start.count(), interval.end.count(), "lab", interval.label);
    }
  }
  text.finish();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
