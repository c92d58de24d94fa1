// SPDX-License-Identifier: Apache-2.0
// The literals of a set as a tree of their bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace penstock {

/// A tree in which each path from the root spells the beginning of a literal. Nodes are numbered by depth and then in
/// the order of their spelling, so the children of a node have consecutive numbers. The root is node 0.
///
/// Source: Aho and Corasick, Efficient String Matching, Communications of the ACM 18(6), 1975.
struct LiteralTrie {
  /// Shape: `sorted` has each literal once, in their order.
  explicit LiteralTrie(std::span<std::string_view const> sorted);

  /// The numbers of the literals that contain no other one, in their order: a text that has any literal has one of
  /// these.
  std::vector<std::uint32_t> innermost() const;

  /// The children of node v are from `children[v]` on, up to `children[v + 1]`.
  std::vector<std::uint32_t> children;
  /// The node that spells the longest proper suffix of this one's spelling.
  std::vector<std::uint32_t> failures;
  /// The last byte of a node's spelling.
  std::vector<unsigned char> bytes;

 private:
  struct Ending {
    std::uint32_t node, literal;
  };

  void find_failures();

  std::vector<std::uint32_t> parents_;
  std::vector<Ending> endings_;  ///< Literals in the order of their nodes.
};

}  // namespace penstock
