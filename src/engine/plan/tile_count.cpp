// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/tile_count.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/pool.hpp"
#include "engine/machine/mapped_memory.hpp"
#include "engine/plan/pool_layout.hpp"
#include "engine/plan/usual_sizes.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using OwnMemory = std::vector<std::span<std::byte>>;

[[noreturn]] void refuse_tiles(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

/// Writes the exact number of bytes, since the user is to ask for it.
std::string exactly(std::size_t bytes) {
  return size_option(static_cast<double>(bytes));
}

void expect_usable(OwnMemory pieces) {
  for (std::span<std::byte> const piece : pieces) {
    if (piece.data() == nullptr || piece.empty()) {
      refuse_tiles("A piece of `own_memory` is empty: give memory that is mapped, or leave `own_memory` empty.");
    }
    if (reinterpret_cast<std::uintptr_t>(piece.data()) % page_bytes() != 0) {
      refuse_tiles(
          "A piece of `own_memory` begins within a page, and only whole pages can be pinned: begin it at a multiple "
          "of " +
          exactly(page_bytes()) + ", as what mmap gives.");
    }
  }
  std::ranges::sort(pieces, std::less<>(), [](std::span<std::byte> piece) { return piece.data(); });
  for (std::size_t next = 1; next < pieces.size(); ++next) {
    if (std::less<>()(pieces[next].data(), pieces[next - 1].data() + pieces[next - 1].size())) {
      refuse_tiles("Two pieces of `own_memory` overlap: give each part of the pool memory of its own.");
    }
  }
}

/// Tiles, and the room that there is for them.
class Fitting {
 public:
  Fitting(PipelineOptions options, TileWish const& wish, std::vector<Device*> const& devices, Topology const& topology)
      : options_(std::move(options)),
        wish_(wish),
        topology_(topology),
        placements_(place_devices(devices, options_, topology)) {}

  PipelineOptions fitted() const {
    std::size_t const asked = options_.tuning.tiles, least = std::max(1U, options_.lanes);
    std::size_t const most = asked != 0 ? asked : std::max(wish_.usual, least);
    if (!options_.own_memory.empty()) expect_piece_for_each_part(most);
    if (fits(most)) return with(most);
    if (asked != 0) refuse_asked(asked);
    if (!fits(least)) refuse_all(least);
    return with(largest_between(least, most));
  }
  std::size_t bytes(std::size_t tiles) const { return layout(tiles).bytes(); }

 private:
  PipelineOptions with(std::size_t tiles) const { return with_tiles(options_, tiles, wish_); }
  PoolLayout layout(std::size_t tiles) const { return lay_out(placements_, with(tiles), topology_); }

  /// Parts get whole batches, so now and then more tiles fit where fewer do not; what is found fits in any case.
  std::size_t largest_between(std::size_t fits_with, std::size_t does_not) const {
    while (does_not - fits_with > 1) {
      std::size_t const middle = fits_with + (does_not - fits_with) / 2;
      (fits(middle) ? fits_with : does_not) = middle;
    }
    return fits_with;
  }

  bool within_memory(PoolLayout const& layout) const {
    return options_.tuning.memory == 0 || layout.bytes() <= options_.tuning.memory;
  }

  bool fits(std::size_t tiles) const {
    PoolLayout const layout = this->layout(tiles);
    if (!within_memory(layout)) return false;
    OwnMemory const& pieces = options_.own_memory;
    if (pieces.empty()) return true;
    for (std::size_t part = 0; part < layout.parts(); ++part) {
      if (pieces.size() != layout.parts() || pieces[part].size() < layout.bytes(part)) return false;
    }
    return true;
  }

  void expect_piece_for_each_part(std::size_t tiles) const {
    std::size_t const parts = layout(tiles).parts(), pieces = options_.own_memory.size();
    expect_usable(options_.own_memory);
    if (parts == pieces) return;
    refuse_tiles("The pool has " + std::to_string(parts) + (parts == 1 ? " part" : " parts, one for each NUMA node") +
                 ", and `own_memory` " + std::to_string(pieces) +
                 " pieces: give one, or as many as memory_needed() says.");
  }

  [[noreturn]] void refuse_asked(std::size_t asked) const {
    std::size_t const lanes = options_.lanes;
    std::size_t const few = lanes < asked && fits(lanes) ? lanes : asked > 1 && fits(1) ? 1 : 0;
    std::string const fewer =
        few > 0 ? "ask for " + std::to_string(largest_between(few, asked)) + " at most" : "take smaller tiles";
    PoolLayout const needed = layout(asked);
    if (!within_memory(needed)) {
      refuse_tiles("`tiles` and `memory` contradict each other: " + count_text(asked, "tile") + " pin " +
                   exactly(needed.bytes()) + ", and `memory` allows " + exactly(options_.tuning.memory) + "; " + fewer +
                   ", leave `tiles` to the pipeline, or allow more.");
    }
    refuse_tiles(own_lacks(asked, needed) + fewer + ", or give more memory.");
  }

  [[noreturn]] void refuse_all(std::size_t least) const {
    PoolLayout const needed = layout(least);
    std::string const smaller = "take smaller tiles" + std::string(least > 1 ? " or fewer lanes" : "");
    if (!within_memory(needed)) {
      refuse_tiles("`memory` allows " + exactly(options_.tuning.memory) + ", and a tile for each lane, " +
                   count_text(least, "tile") + ", needs " + exactly(needed.bytes()) +
                   " of pinned memory: allow as much, or " + smaller + ".");
    }
    refuse_tiles(own_lacks(least, needed) + "give more memory, or " + smaller + ".");
  }

  std::string own_lacks(std::size_t tiles, PoolLayout const& needed) const {
    std::string text = "`own_memory` is too small for " + count_text(tiles, "tile") + ":";
    for (std::size_t part = 0; part < needed.parts(); ++part) {  // No more than there are pieces.
      text += (part > 0 ? ", and " : " ") + exactly(needed.bytes(part)) + " are needed where there are " +
              exactly(options_.own_memory[part].size());
    }
    return text + "; ";
  }

  PipelineOptions const options_;
  TileWish const wish_;
  Topology const& topology_;
  std::vector<Placement> const placements_;
};

}  // namespace

bool have_few_tiles(PipelineOptions const& asked, std::vector<Device*> const& devices) {
  return devices.size() > 1 && devices.front()->info().acts_as_gpu() && asked.aim != Aim::latency &&
         asked.tuning.batch == 0 && asked.tuning.slots == 0;
}

TileHolders holders_of(PipelineOptions const& options) {
  return {.lanes = options.lanes,
          .slots = options.tuning.slots,
          .batch = options.tuning.batch,
          .producers = options.producers,
          .consumers = options.consumers,
          .tile_bytes = Pool::slab_bytes(options.tile, 1)};
}

std::size_t reserve_tiles(PipelineOptions const& asked, PipelineOptions const& resolved,
                          std::vector<Device*> const& devices) {
  if (asked.tuning.tiles != 0 || !have_few_tiles(asked, devices)) return 0;
  return reserve_of_several(resolved.tuning.tiles, holders_of(resolved));
}

PipelineOptions with_tiles(PipelineOptions options, std::size_t tiles, TileWish const& wish) {
  Tuning& tuning = options.tuning;
  tuning.tiles = tiles;
  // More tiles can never be in flight, and each slot takes memory of the device.
  tuning.slots = static_cast<unsigned>(std::min<std::size_t>(tuning.slots, tiles));
  // Few tiles, too, are to make several batches.
  if (wish.asked_batch == 0) tuning.batch = std::clamp(tuning.slots / batches_in_flight, 1U, tuning.batch);
  tuning.batch = largest_batch(tuning.batch, tuning.slots, tiles, options.lanes);
  return options;
}

PipelineOptions choose_tiles(PipelineOptions options, TileWish const& wish, std::vector<Device*> const& devices,
                             Topology const& topology, std::vector<std::string>& remarks) {
  Tuning const& tuning = options.tuning;
  if (tuning.memory == 0 && options.own_memory.empty()) {
    // The count is checked here, before any memory is made.
    std::size_t const tiles = Pool::checked_count(tuning.tiles == 0 ? wish.usual : tuning.tiles);
    return with_tiles(std::move(options), tiles, wish);
  }
  std::size_t const asked = tuning.tiles;
  Fitting const fitting(std::move(options), wish, devices, topology);
  PipelineOptions fitted = fitting.fitted();
  std::size_t const tiles = Pool::checked_count(fitted.tuning.tiles);
  std::string remark = "The pool has " + count_text(tiles, "tile");
  if (asked == 0 && tiles < wish.usual) remark += " and not the usual " + std::to_string(wish.usual);
  remark += ", which pin " + size_text(fitting.bytes(tiles));
  if (!fitted.own_memory.empty()) remark += " of memory of the application's own";
  if (fitted.tuning.memory != 0) remark += "; `memory` allows " + size_text(fitted.tuning.memory);
  remarks.push_back(remark + ".");
  return fitted;
}

}  // namespace penstock
