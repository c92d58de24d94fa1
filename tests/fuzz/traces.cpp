// SPDX-License-Identifier: Apache-2.0
// Traces that are joined come to lines of one trace, whatever was in them; so do names.
#include <array>
#include <sstream>

#include "fuzz/harness.hpp"

#include "observe/verdict/trace_text.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  std::string const name(take_until(input, '\1'));
  std::istringstream one{std::string(take_until(input, '\1'))}, other{std::string(input)};
  std::array<std::istream*, 2> const both{&one, &other};
  std::ostringstream joined;
  join_traces(joined, both, {{name, name}});
  require(joined.good(), "all was written");
  require(joined.str().starts_with("{") && joined.str().ends_with("]}\n"), "a joined trace is one object");
  std::string const text = quoted(name);
  require(text.size() >= 2 && text.front() == '"' && text.back() == '"', "a name is quoted");
  require(text.find('\n') == std::string::npos, "a name takes one line");
}

}  // namespace penstock::fuzz
