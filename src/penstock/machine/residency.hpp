// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace penstock {

/// On which NUMA nodes the pages of some memory lie, by a sample.
struct Residency {
  std::size_t sampled = 0;  ///< Pages asked about.
  std::map<int, std::size_t> pages_on_node;
  std::size_t absent = 0;              ///< Pages that have no memory (yet).
  std::optional<std::string> refusal;  ///< Why nothing is known: some containers forbid to ask.

  /// The part of the sample that lies on `node`, 0 to 1; empty if nothing is known.
  std::optional<double> fraction_on(int node) const noexcept;
  /// "1024 of 1024 sampled pages on node 0".
  std::string describe() const;

  /// Asks the kernel about at most `samples` pages, evenly spread over `memory`.
  ///
  /// Threads: any.
  /// Blocks:  about a microsecond a page.
  static Residency of(std::span<std::byte const> memory, std::size_t samples = 1024);
};

}  // namespace penstock
