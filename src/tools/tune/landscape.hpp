// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::measure {

/// Which value a point has on each axis, by number from 0.
using Levels = std::vector<std::size_t>;

/// An axis as a search sees it.
struct SearchAxis {
  std::size_t count = 1;  ///< Values that it has.
  /// Neighbouring values come to much the same, as with numbers in increasing order; otherwise they are merely
  /// different, as signals are.
  bool ordered = true;
  std::string name = {};  ///< For the user that reads what was tried.
};

/// How much a measurement may take.
enum class Effort : std::uint8_t {
  glance,  ///< Little: there are many points.
  look,    ///< More: between few, by little.
};

/// What a search looks for the highest point of: a machine with a job, or something made up in a test.
///
/// Threads: one.
class Landscape {
 public:
  Landscape() = default;
  Landscape(Landscape const&) = delete;
  Landscape& operator=(Landscape const&) = delete;
  virtual ~Landscape() = default;

  /// How good the point is, more being better, with whatever noise there is; empty if it failed.
  virtual std::optional<double> measure(Levels const& levels, Effort effort) = 0;
  /// Seconds since the search began.
  virtual double elapsed() const = 0;
  /// False for points that are not to be tried at all.
  virtual bool allowed(Levels const& levels) const = 0;
  /// What the point takes of the machine while it runs, in any unit: of points that are as good the least is best.
  virtual double cost(Levels const& levels) const = 0;
};

}  // namespace penstock::measure
