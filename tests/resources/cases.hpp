// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "resources/child.hpp"
#include "resources/judge.hpp"

namespace penstock::sweep {

/// Paths of the programs of a sweep.
struct Programs {
  std::string penstock;
  std::string worlds;    ///< penstock_resource_worlds
  std::string lines;     ///< The job that adds up lines.
  std::string refusals;  ///< The library to preload.
};

/// A small run of a program.
struct Case {
  std::string name;
  Order order;
  Allowed allowed;
  std::uint64_t every = 1;  ///< A case that takes long is refused one thing in so many.
};

/// One thing that is refused more and more, or later and later.
struct Axis {
  std::string name;
  std::uint64_t first = 1;
  std::uint64_t last = 0;  ///< 0: until nothing is refused any more.
  std::function<void(Order&, std::uint64_t)> refuse;
  std::set<std::string> only = {};  ///< Cases to which it means something; all if empty.
  bool alone = false;               ///< Runs alone, since what other children take counts.
  bool tears = false;               ///< The system itself may write a part of a line.
};

/// Returns those that this process may refuse.
std::vector<Axis> all_axes();

/// Returns the cases, which run in `folder`, with files that are made there.
///
/// Blocks: while each is run undisturbed, to learn what it prints.
std::vector<Case> all_cases(Programs const& programs, std::filesystem::path const& folder,
                            std::chrono::seconds patience);

}  // namespace penstock::sweep
