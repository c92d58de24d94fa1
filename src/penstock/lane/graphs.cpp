// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/graphs.hpp"

#include "penstock/core/words.hpp"

namespace penstock {

std::string_view to_string(Graphs graphs) noexcept {
  switch (graphs) {
    case Graphs::automatic:
      return "automatic";
    case Graphs::never:
      return "never";
    case Graphs::always:
      return "always";
  }
  return "";
}

std::string graphs_names() {
  return words_for(all_graphs);
}

Graphs parse_graphs(std::string_view name) {
  return parse_word(all_graphs, name, "choice of graphs");
}

}  // namespace penstock
