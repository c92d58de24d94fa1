// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/join_traces.hpp"

#include <istream>
#include <string>

namespace penstock {

void join_traces(std::ostream& out, std::span<std::istream* const> traces, TraceNotes const& notes) {
  TraceText text(out);
  text.notes(notes);
  for (std::istream* const trace : traces) {
    std::string line;
    std::getline(*trace, line);  // Its own notes.
    while (std::getline(*trace, line) && line.starts_with('{')) {
      if (line.ends_with(',')) line.pop_back();
      text.line(line);
    }
  }
  text.finish();
}

}  // namespace penstock
