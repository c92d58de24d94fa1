// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penstock/kernels/blake3_node.hpp"

namespace penstock {

/// Merges the nodes of one file's tiles into its digest, in whatever order they come.
///
/// Holds one value for each bit of the number of tiles, and one node for each tile that came before an earlier one.
///
/// Threads: one at a time.
class Blake3Tree {
 public:
  /// Takes the node of tile `index`, as blake3_tile wrote it. An empty tile after others changes nothing.
  ///
  /// Throws: Error of kind bad_argument, if there was such a tile before.
  void add(std::uint64_t index, Blake3Node const& node);
  /// The digest of a file of `tiles` tiles, at least one (an empty file's tile is empty).
  ///
  /// Throws: Error of kind bad_argument, if a tile is missing or there was one more.
  Blake3Digest finish(std::uint64_t tiles) const;
  /// Tiles that wait for an earlier one.
  std::size_t early() const noexcept { return early_.size(); }

 private:
  void append(Blake3Node const& node);

  /// Subtrees of the tiles before `last_`, left to right; their sizes in tiles are the bits of `appended_ - 1`.
  std::vector<Blake3Value> stack_;
  /// The newest tile in order: not merged before it is known whether another one follows.
  std::optional<Blake3Node> last_;
  std::uint64_t taken_ = 0;     ///< Tiles in order so far.
  std::uint64_t appended_ = 0;  ///< Those of them that were not empty, or the only one.
  std::map<std::uint64_t, Blake3Node> early_;
};

/// Lower-case hexadecimal, as b3sum prints it.
std::string blake3_hex(Blake3Digest const& digest);

}  // namespace penstock
