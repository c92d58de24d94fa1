// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace penstock::simulation {

/// A mistake that the ledger could have: in its statements this text stands for that one.
struct Mistake {
  std::string_view name;
  std::string_view right;
  std::string_view wrong;
};

std::span<Mistake const> all_mistakes();
/// From now on the ledger makes this mistake. With nullptr it makes none.
///
/// Threads: one.
void make_mistake(Mistake const* mistake);
/// True if a statement had the text since the last make_mistake.
bool mistake_was_made();

}  // namespace penstock::simulation
