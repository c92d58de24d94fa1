// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/graphs.hpp"

#include "penstock/core/error.hpp"

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
  std::string names;
  for (Graphs const graphs : all_graphs) {
    if (!names.empty()) names += ", ";
    names += to_string(graphs);
  }
  return names;
}

Graphs parse_graphs(std::string_view name) {
  for (Graphs const graphs : all_graphs) {
    if (to_string(graphs) == name) return graphs;
  }
  throw Error(ErrorKind::bad_argument,
              "There are no graphs '" + std::string(name) + "': choose from " + graphs_names() + ".");
}

}  // namespace penstock
