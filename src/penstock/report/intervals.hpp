// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace penstock {

/// From `begin` up to `end`, without the latter.
///
/// Units: nanoseconds.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(Stretch const&, Stretch const&) = default;
};

/// A set of moments, kept as the fewest stretches that make it up: in order, none empty, no two that touch.
class Intervals {
 public:
  Intervals() = default;
  /// The moments of all of them together.
  ///
  /// Shape: in any order; one that ends where it begins, or earlier, counts as nothing.
  explicit Intervals(std::vector<Stretch> stretches);

  std::vector<Stretch> const& stretches() const noexcept { return stretches_; }
  bool empty() const noexcept { return stretches_.empty(); }
  /// Units: nanoseconds.
  std::int64_t length() const noexcept;

  friend bool operator==(Intervals const&, Intervals const&) = default;

 private:
  std::vector<Stretch> stretches_;
};

/// The moments of either.
Intervals united(Intervals const& one, Intervals const& other);
/// The moments of both.
Intervals common(Intervals const& one, Intervals const& other);

}  // namespace penstock
