// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/tile_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <sys/stat.h>

namespace penstock::cli {
namespace {

/// Looking at more of them would take longer than it saves.
constexpr std::size_t most_paths = 64;
/// Files in /proc say that they are empty, whatever they hold: a tile that is too small for one costs time, and this
/// much memory is nothing.
constexpr std::size_t least_tile_bytes = std::size_t{64} << 10;

/// The fewest tiles that a pipeline makes of these options if left to itself.
std::size_t least_tiles(PipelineOptions const& options) {
  auto const or_else = [](unsigned value, unsigned preset) { return std::size_t{value != 0 ? value : preset}; };
  return or_else(options.lanes, 1) * or_else(options.slots, 4) + 2 * or_else(options.producers, 1) +
         or_else(options.consumers, 1);
}

}  // namespace

void fit_tiles(PipelineOptions& options, std::vector<std::string> const& paths) {
  if (paths.size() > most_paths) return;
  std::vector<std::uint64_t> sizes;
  for (std::string const& path : paths) {
    struct stat status {};
    if (path == "-") return;
    if (stat(path.c_str(), &status) != 0) continue;  // It will be reported, and needs no tile.
    if (!S_ISREG(status.st_mode)) return;
    sizes.push_back(static_cast<std::uint64_t>(status.st_size));
  }
  std::uint64_t const largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  std::size_t& tile_bytes = options.tile.input_bytes;
  if (largest < tile_bytes) {
    tile_bytes = std::min(tile_bytes, std::max(least_tile_bytes, std::bit_ceil(static_cast<std::size_t>(largest))));
  }
  auto const shift = std::countr_zero(tile_bytes);
  std::uint64_t useful = 0;
  for (std::uint64_t const size : sizes) useful += std::max<std::uint64_t>(1, (size + tile_bytes - 1) >> shift);
  useful = std::max<std::uint64_t>(useful, 1);
  std::size_t const wanted = options.tiles != 0 ? options.tiles : least_tiles(options);
  if (useful < wanted) options.tiles = static_cast<std::size_t>(useful);
}

}  // namespace penstock::cli
