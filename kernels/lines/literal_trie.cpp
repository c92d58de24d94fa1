// SPDX-License-Identifier: Apache-2.0
#include "kernels/lines/literal_trie.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/lines/literal_table.hpp"

namespace penstock {

LiteralTrie::LiteralTrie(std::span<std::string_view const> sorted) : children{1}, bytes(1), parents_(1) {
  struct Beginning {
    std::uint32_t first, last;
  };
  // The nodes of one depth, each with the literals that begin with its spelling.
  std::vector<Beginning> level{{0, static_cast<std::uint32_t>(sorted.size())}}, deeper;
  for (std::size_t depth = 0; !level.empty(); ++depth, level.swap(deeper), deeper.clear()) {
    for (auto [first, last] : level) {
      auto const node = static_cast<std::uint32_t>(children.size() - 1);
      // The shortest literal is the first of them.
      if (first < last && sorted[first].size() == depth) endings_.push_back({node, first++});
      while (first < last) {
        char const byte = sorted[first][depth];
        std::uint32_t behind = first;
        while (behind < last && sorted[behind][depth] == byte) ++behind;
        deeper.push_back({first, behind});
        bytes.push_back(static_cast<unsigned char>(byte));
        parents_.push_back(node);
        first = behind;
      }
      children.push_back(static_cast<std::uint32_t>(bytes.size()));
    }
  }
  find_failures();
}

void LiteralTrie::find_failures() {
  failures.assign(bytes.size(), 0);
  for (std::uint32_t node = 1; node < bytes.size(); ++node) {
    std::uint32_t const parent = parents_[node];
    if (parent == 0) continue;
    std::uint32_t from = failures[parent];
    std::uint32_t found = child_of(children.data(), bytes.data(), from, bytes[node]);
    for (; found == 0 && from != 0; found = child_of(children.data(), bytes.data(), from, bytes[node])) {
      from = failures[from];
    }
    failures[node] = found;
  }
}

std::vector<std::uint32_t> LiteralTrie::innermost() const {
  // True for nodes whose spelling contains a literal: it ends there, or further up, or does not begin at the root.
  std::vector<bool> has_one(bytes.size());
  std::vector<std::uint32_t> chosen;
  auto ending = endings_.begin();
  for (std::uint32_t node = 1; node < bytes.size(); ++node) {
    has_one[node] = has_one[parents_[node]] || has_one[failures[node]];
    if (ending == endings_.end() || ending->node != node) continue;
    if (!has_one[node]) chosen.push_back(ending->literal);
    has_one[node] = true;
    ++ending;
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace penstock
