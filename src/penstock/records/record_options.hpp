// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace penstock {

/// How records are packed. No option has to be set: by default records are of any size, and the result of each takes
/// the place of its input.
struct RecordOptions {
  /// The size of every record, which spares the device a table of them. 0: records of any size.
  std::size_t record_bytes = 0;
  /// The size of the result of each record; the results then lie one behind the other. 0: there is no result. Empty: as
  /// large as the record, in the same place.
  std::optional<std::size_t> output_bytes = {};
  /// Where records of any size begin: at multiples of this power of two.
  std::size_t alignment = 16;
  /// How long a record waits for others to fill its tile, once the lanes have enough to do: longer than eight writers
  /// take to fill 4 MiB tiles at the speed of a link. From a day on it is a day.
  std::chrono::microseconds linger{5000};
  /// With fewer tiles under way than this a tile leaves though it is not full: the lanes are hungry. 0: three a lane,
  /// one each for upload, stage and download, but no more than half of the tiles, or none would ever fill.
  std::size_t hungry_below = 0;
};

}  // namespace penstock
