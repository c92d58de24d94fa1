// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/red_zones.hpp"

#include <algorithm>
#include <string>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

/// Neither a usual value of a byte, nor of a float or an integer made of four or eight of them.
constexpr std::byte paint_of_zones{0xA7};

/// Calls `visit(name, part, zone before, zone behind)` for each part that there is. Of an input, what is not filled
/// belongs to the zone behind it, since the stage is not shown that.
template <class Visit>
void for_each_part(TileParts const& parts, Tile const& tile, Visit visit) {
  auto const visit_part = [&](char const* name, std::span<std::byte> part, std::size_t used) {
    if (part.empty()) return;
    used = std::min(used, part.size());  // A tile that claims more fails later.
    std::span<std::byte> const before(part.data() - RedZones::bytes, RedZones::bytes);
    std::span<std::byte> const behind(part.data() + used, part.size() - used + RedZones::bytes);
    visit(name, before, behind);
  };
  bool const in_place = parts.output.data() == parts.input.data();
  if (in_place) {
    visit_part("the tile", parts.input, parts.input.size());
  } else {
    visit_part("the input", parts.input, tile.filled);
    visit_part("the output", parts.output, parts.output.size());
  }
  constexpr char const* names[] = {"the second input", "the third input", "the fourth input"};
  for (std::size_t i = 0; i < most_more_inputs; ++i) visit_part(names[i], parts.more_inputs[i], tile.more_filled[i]);
}

}  // namespace

TileShape RedZones::around(TileShape shape) noexcept {
  auto const widen = [](std::size_t& part) { part = part == 0 ? 0 : TileShape::stride(part) + 2 * bytes; };
  widen(shape.input_bytes);
  widen(shape.output_bytes);
  for (std::size_t& more : shape.more_input_bytes) widen(more);
  return shape;
}

TileParts RedZones::within(TileParts const& slot, TileShape const& shape) noexcept {
  auto const inner = [](std::span<std::byte> part, std::size_t size) {
    return size == 0 ? part : part.subspan(bytes, size);
  };
  TileParts parts{.input = inner(slot.input, shape.input_bytes), .output = inner(slot.output, shape.output_bytes)};
  for (std::size_t i = 0; i < most_more_inputs; ++i) {
    parts.more_inputs[i] = inner(slot.more_inputs[i], shape.more_input_bytes[i]);
  }
  return parts;
}

void RedZones::paint(TileParts const& parts, Tile const& tile) noexcept {
  for_each_part(parts, tile, [](char const*, std::span<std::byte> before, std::span<std::byte> behind) {
    std::ranges::fill(before, paint_of_zones);
    std::ranges::fill(behind, paint_of_zones);
  });
}

std::shared_ptr<Failure const> RedZones::look(TileParts const& parts, Tile const& tile) {
  std::string what;
  auto const count = [](std::span<std::byte const> zone) {
    return zone.size() - static_cast<std::size_t>(std::ranges::count(zone, paint_of_zones));
  };
  for_each_part(parts, tile, [&](char const* name, std::span<std::byte> before, std::span<std::byte> behind) {
    auto const add = [&](std::size_t written, char const* where) {
      if (written == 0) return;
      what += (what.empty() ? "" : " and ") + count_text(written, "byte") + " " + where + " " + name;
    };
    add(count(before), "before");
    add(count(behind), "behind");
  });
  if (what.empty()) return nullptr;
  return std::make_shared<Failure const>(
      Failure{"stage",
              "The stage wrote outside of the tile that it was asked for: at least " + what +
                  ". Its kernels are to stay within DeviceTile::input and output.",
              ErrorKind::bad_argument});
}

}  // namespace penstock
