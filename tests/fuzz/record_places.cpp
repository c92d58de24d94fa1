// SPDX-License-Identifier: Apache-2.0
// Wherever a writer says that its records lie, all that a stage and a sink get lies in the tile, and is what was
// written there. An input says which shape and options, and what is written.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/harness.hpp"
#include "support/inline_stream.hpp"

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"
#include "records/packing.hpp"

namespace penstock::fuzz {
namespace {

using Bytes = std::span<std::byte const>;

bool lies_in(Bytes part, Bytes whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// One record as it was written.
struct Written {
  std::vector<std::byte> bytes;
  std::uint64_t tag;
};

/// A tile that is filled as a writer fills it, and what should be in it.
class FilledTile {
 public:
  FilledTile(Packing const& packing, TileShape const& shape, RecordOptions const& options)
      : packing_(packing), options_(options), slab_(Pool::slab_bytes(shape, 2)), pool_(slab_, shape, 2) {
    pack_.open(pool_.borrow());
    other_.open(pool_.borrow());
  }

  /// Appends one record of any size.
  void append(std::size_t bytes) {
    try {
      packing_.expect_size(bytes);
    } catch (Error const&) {
      return require(is_refused(bytes), "only a record that no tile holds is refused");
    }
    require(!is_refused(bytes), "a record that no tile holds is refused");
    if (!packing_.has_room(pack_, bytes)) return;
    packing_.expect_more(pack_, 1);
    auto const room = packing_.room(pack_, bytes);
    fill(room);
    packing_.add(pack_, bytes, {.tag = ++tag_});
    note(room);
  }
  /// Appends several, of these sizes.
  void append_many(std::span<std::uint8_t const> sizes) {
    std::vector<std::byte> from(std::size_t{256} * sizes.size());
    fill(from);
    std::vector<Bytes> records;
    for (std::size_t k = 0; k < sizes.size(); ++k) records.push_back(Bytes(from).subspan(256 * k, sizes[k]));
    try {
      packing_.expect_sizes(records);
    } catch (Error const&) {
      return;
    }
    std::size_t const copied = packing_.copy(pack_, records, tag_ + 1);
    require(copied <= records.size(), "no record is copied twice");
    for (Bytes const record : std::span(records).first(copied)) ++tag_, note(record);
  }
  /// Commits a room with records at these places, which may be anywhere.
  void commit(std::size_t bytes, std::span<RecordPlace const> places) {
    try {
      packing_.expect_room(bytes, places.size());
    } catch (Error const&) {
      return;
    }
    if (!packing_.has_room(pack_, bytes, places.size())) return;
    auto const room = packing_.room(pack_, bytes);
    fill(room);
    std::size_t taken = 0;
    try {
      taken = packing_.expect_places(places, room.size());
    } catch (Error const&) {
      return;
    }
    require(taken <= room.size(), "records take no more than their room");
    packing_.expect_more(pack_, places.size());
    packing_.add(pack_, places, taken, tag_ + 1);
    for (RecordPlace const place : places) ++tag_, note(room.subspan(place.offset, place.bytes));
  }
  /// Moves them into the other tile, as records leave while a writer fills its room.
  void move() {
    if (pack_.count() == 0) return;
    Packing::move(pack_, other_);
    std::swap(pack_, other_);
    other_.entries.clear();
    other_.places.clear();
  }

  /// Checks what a stage gets of it, and then a sink.
  void expect_whole() {
    if (pack_.count() == 0) return;
    packing_.close(pack_);
    Tile& tile = *pack_.loan;
    require(pack_.count() == written_.size(), "each record is in the tile once");
    require(tile.filled <= tile.input().size(), "a tile is not filled beyond its end");
    DeviceTile const seen{.input = tile.input().first(tile.filled), .output = tile.output(), .sequence = 0};
    DeviceRecords const records = packing_.on_device(pack_, seen);
    require(records.inputs.size() == written_.size(), "a stage gets each record");
    support::InlineStream stream;
    StreamRef(stream).launch(1, [&](KernelBlock block) {
      auto const input = records.input.in(block);
      auto const output = records.output.in(block);
      require(lies_in(input, tile.input()) && lies_in(output, tile.output()), "records lie in their tile");
      for (std::uint32_t number = 0; number < records.inputs.size(); ++number) {
        auto const [offset, bytes] = records.inputs.at(block, number);
        require(offset <= input.size() && bytes <= input.size() - offset, "a record lies in its tile");
        require(options_.record_bytes != 0 || offset % options_.alignment == 0, "a record is aligned");
        require(std::ranges::equal(input.subspan(offset, bytes), written_[number].bytes),
                "a record is what was written");
        auto const [to, size] = records.outputs.at(block, number);
        require(to <= output.size() && size <= output.size() - to, "a result lies in its tile");
      }
    });
    auto const all = packing_.completions(pack_, tile, Outcome::done, nullptr);
    std::size_t results = 0;
    for (std::uint32_t number = 0; number < all.size(); ++number) {
      require(lies_in(all.output(number), tile.output()), "what a sink gets lies in the tile");
      require(all.tag(number) == written_[number].tag, "a record has its tag");
      results += all.output(number).size();
    }
    require(results == packing_.result_bytes(pack_), "results are counted");
  }

 private:
  bool is_refused(std::size_t bytes) const {
    return options_.record_bytes != 0 ? bytes != options_.record_bytes : bytes > packing_.most_bytes();
  }
  void fill(std::span<std::byte> room) {
    for (std::byte& byte : room) byte = static_cast<std::byte>(++next_);
  }
  void note(Bytes record) { written_.push_back({{record.begin(), record.end()}, tag_}); }

  Packing const& packing_;
  RecordOptions const& options_;
  std::vector<std::byte> slab_;
  Pool pool_;
  Pack pack_, other_;
  std::vector<Written> written_;
  std::uint64_t tag_ = 0;
  unsigned next_ = 0;
};

RecordOptions options_of(std::string_view& input) {
  RecordOptions options;
  options.record_bytes = take<std::uint8_t>(input) % 70;
  // Any size of records is as likely as one that all have.
  if (take<std::uint8_t>(input) % 2 == 0) options.record_bytes = 0;
  if (auto const results = take<std::uint8_t>(input); results % 2 == 1) options.output_bytes = results / 2;
  options.alignment = std::size_t{1} << take<std::uint8_t>(input) % 10;
  return options;
}

}  // namespace

void try_input(std::string_view input) {
  TileShape shape{.input_bytes = take<std::uint16_t>(input) % 2000u,
                  .output_bytes = take<std::uint16_t>(input) % 2000u};
  shape.in_place = take<std::uint8_t>(input) % 3 == 0;
  if (shape.in_place) shape.output_bytes = shape.input_bytes;
  RecordOptions const options = options_of(input);
  std::optional<Packing> packing;
  try {
    packing.emplace(shape, options);
  } catch (Error const&) {
    return;
  }
  FilledTile tile(*packing, shape, options);
  while (!input.empty()) {
    auto const kind = take<std::uint8_t>(input);
    std::size_t const count = kind / 4 % 16;
    if (kind % 4 == 0) {
      tile.append(kind >= 128 ? options.record_bytes : take<std::uint16_t>(input) % 2100u);
    } else if (kind % 4 == 1) {
      std::vector<std::uint8_t> sizes(count);
      for (auto& size : sizes)
        size = kind >= 128 ? static_cast<std::uint8_t>(options.record_bytes) : take<std::uint8_t>(input);
      tile.append_many(sizes);
    } else if (kind % 4 == 2) {
      std::size_t const bytes = kind >= 128 ? count * options.record_bytes : take<std::uint16_t>(input);
      std::vector<RecordPlace> places(count);
      std::uint32_t at = 0;
      for (auto& place : places) {
        place = kind >= 192 ? RecordPlace{at, static_cast<std::uint32_t>(options.record_bytes)}
                            : RecordPlace{take<std::uint32_t>(input), take<std::uint32_t>(input)};
        at += static_cast<std::uint32_t>(options.record_bytes);
      }
      tile.commit(bytes, places);
    } else {
      tile.move();
    }
  }
  tile.expect_whole();
}

}  // namespace penstock::fuzz
