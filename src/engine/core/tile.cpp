// SPDX-License-Identifier: Apache-2.0
#include "penstock/tile.hpp"

#include "penstock/error.hpp"

namespace penstock {

std::vector<std::size_t> TileShape::more_inputs() const {
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < more_input_bytes.size(); ++i) {
    if (more_input_bytes[i] > 0) inputs.push_back(i + 1);
  }
  return inputs;
}

TileParts TileShape::cut(std::span<std::byte> slab, std::size_t tiles, std::size_t number) const noexcept {
  std::size_t start = 0;
  auto const next = [&](std::size_t bytes) {
    auto const part = slab.subspan(start + number * stride(bytes), bytes);
    start += tiles * stride(bytes);
    return part;
  };
  TileParts parts{.input = next(input_bytes)};
  for (std::size_t i = 0; i < parts.more_inputs.size(); ++i) parts.more_inputs[i] = next(more_input_bytes[i]);
  parts.output = in_place ? parts.input : next(output_bytes);
  return parts;
}

void Tile::use_memory(std::span<std::byte> memory, MemoryOwner* owner) {
  std::span<std::byte> const own = own_input();
  if (memory.size() > own.size()) {
    throw Error(ErrorKind::bad_argument, "A tile holds " + std::to_string(own.size()) +
                                             " bytes, and cannot stand for memory of " + std::to_string(memory.size()) +
                                             ": make the tiles larger, or use the memory in parts.");
  }
  if (!own.empty() && parts_.output.data() == own.data()) {
    throw Error(
        ErrorKind::bad_argument,
        "A tile that is worked on in place cannot stand for other memory: copy that, or give the tiles an output "
        "of their own.");
  }
  tell_memory_owner();
  own_input_ = own;
  memory_owner_ = owner;
  uses_memory_ = true;
  parts_.input = memory;
  filled = memory.size();
}

void expect_filled_fits(Tile const& tile, std::string const& subject) {
  if (tile.filled > tile.input().size()) {
    throw Error(ErrorKind::bad_argument, subject + " says that it filled " + std::to_string(tile.filled) +
                                             " bytes of a tile that holds " + std::to_string(tile.input().size()) +
                                             ": make the tiles larger, or fill them in parts.");
  }
  for (std::size_t which = 1; which <= tile.more_filled.size(); ++which) {
    if (tile.more_filled[which - 1] <= tile.input(which).size()) continue;
    constexpr std::array names{"first", "second", "third", "fourth"};
    throw Error(ErrorKind::bad_argument, subject + " says that it filled " +
                                             std::to_string(tile.more_filled[which - 1]) + " bytes of a tile's " +
                                             names[which] + " input, which holds " +
                                             std::to_string(tile.input(which).size()) +
                                             ": say so in TileShape::more_input_bytes, or fill less.");
  }
}

}  // namespace penstock
