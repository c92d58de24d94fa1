// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/path_chooser.hpp"

#include <algorithm>
#include <cstdint>

namespace penstock {

std::optional<TileParts> MappedTiles::find(Tile const& tile) {
  if (tile.index() >= tiles_.size()) return std::nullopt;
  Known& known = tiles_[tile.index()];
  if (!known.asked) {
    known.parts = see(tile);
    known.asked = true;
  }
  if (!known.parts || !tile.uses_memory()) return known.parts;
  auto const elsewhere = device_.mapped(tile.input());
  if (!elsewhere) return std::nullopt;
  TileParts parts = *known.parts;
  parts.input = *elsewhere;
  return parts;
}

std::optional<TileParts> MappedTiles::see(Tile const& tile) {
  auto const input = device_.mapped(tile.own_input());
  auto const output = device_.mapped(tile.output());
  if (!input || !output) return std::nullopt;
  TileParts parts{.input = *input, .output = *output};
  for (std::size_t i = 0; i < parts.more_inputs.size(); ++i) {
    auto const more = device_.mapped(tile.input(i + 1));
    if (!more) return std::nullopt;
    parts.more_inputs[i] = *more;
  }
  return parts;
}

bool is_aligned_for(Tile const& tile, Stage const& stage) {
  if (!tile.uses_memory() || stage.promises().any_alignment) return true;
  return reinterpret_cast<std::uintptr_t>(tile.input().data()) % TileShape::alignment == 0;
}

PathChooser::PathChooser(Device& device, Transport transport, std::size_t bound, TileShape shape, std::size_t tiles)
    : transport_(transport),
      bound_(bound),
      shape_(shape),
      more_inputs_(shape.more_inputs()),
      pool_(device, transport == Transport::copies ? 0 : tiles) {}

/// Mapped tiles may be in flight with this batch, as long as they are few: they run one after the other.
TransferPath PathChooser::choose(std::span<Loan const> loans, Stage const& stage, std::uint64_t put,
                                 std::uint64_t retired) {
  if (transport_ == Transport::mapped) return TransferPath::mapped;
  std::size_t const bytes = bytes_of(loans);
  bool const lone = put == retired && loans.size() == 1;
  bool const fits = mapped_bytes_ + bytes <= bound_ || (lone && bytes <= most_lone_mapped_bytes);
  if (fits && youngest_copied_ <= retired && may_be_mapped(loans, stage)) return TransferPath::mapped;
  youngest_copied_ = put + loans.size();
  return TransferPath::copied;
}

/// Bytes up and down, as far as they can be known now.
std::size_t PathChooser::bytes_of(std::span<Loan const> loans) const {
  std::size_t bytes = 0;
  for (Loan const& loan : loans) {
    std::size_t up = std::min(loan->filled, shape_.input_bytes);
    for (std::size_t const which : more_inputs_) {
      up += std::min(loan->more_filled[which - 1], shape_.more_input_bytes[which - 1]);
    }
    // Only the stage can say, later, what comes back; mostly not more than went up.
    bytes += up + (up == 0 ? shape_.output_bytes : std::min(up, shape_.output_bytes));
  }
  return bytes;
}

/// True if the choice is left to the lane, the stage allows it, and the device sees all of the tiles.
bool PathChooser::may_be_mapped(std::span<Loan const> loans, Stage const& stage) {
  if (transport_ != Transport::automatic || !stage.promises().allow_mapping()) return false;
  try {
    return std::all_of(loans.begin(), loans.end(),
                       [&](Loan const& loan) { return is_aligned_for(*loan, stage) && pool_.find(*loan).has_value(); });
  } catch (...) {
    return false;  // The copies will meet the cause; no tile has been taken yet.
  }
}

}  // namespace penstock
