// SPDX-License-Identifier: Apache-2.0
#include "records/packing.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// Offsets in a tile have 32 bits, so that a place takes no more than a word.
constexpr std::size_t most_tile_bytes = std::numeric_limits<std::uint32_t>::max();

/// Suffices for records of a page in a tile of 1 MiB.
constexpr std::size_t first_entries = 256;

[[noreturn]] void refuse(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

}  // namespace

Packing::Packing(TileShape shape, RecordOptions const& options)
    : room_(shape.input_bytes),
      output_room_(shape.output_bytes),
      each_(options.record_bytes),
      in_place_(!options.output_bytes),
      results_(options.output_bytes.value_or(0)),
      alignment_(options.alignment) {
  if (options.linger < std::chrono::microseconds(0)) refuse("Records linger for some time or none, not for less.");
  if (room_ > most_tile_bytes || output_room_ > most_tile_bytes) {
    refuse("Records are packed into tiles of less than 4 GiB: make the pipeline's tiles smaller.");
  }
  if (!std::has_single_bit(alignment_) || alignment_ > Pool::alignment) {
    refuse("Records begin at multiples of a power of two up to " + std::to_string(Pool::alignment) + ", not of " +
           std::to_string(alignment_) + ".");
  }
  if (in_place_ && output_room_ < room_) {
    refuse("The results of records take as much room as the records, but a tile has " + size_text(room_) +
           " for these and " + size_text(output_room_) +
           " for those: give it as much for both, or say how large a result is (output_bytes).");
  }
  if (!in_place_ && results_ > 0 && shape.in_place) {
    refuse(
        "Results of a size of their own cannot lie where the records do: give the pipeline tiles that are not "
        "worked on in place.");
  }
  std::size_t const table = each_ == 0 ? sizeof(RecordPlace) : 0;
  most_bytes_ = each_ > 0 ? each_ : room_ > table ? (room_ - table) / alignof(RecordPlace) * alignof(RecordPlace) : 0;
  most_records_ = results_ > 0 ? output_room_ / results_ : std::numeric_limits<std::uint32_t>::max();
  if (most_bytes_ == 0 || most_bytes_ > room_ || most_records_ == 0) {
    refuse("A tile of " + size_text(room_) + " of input and " + size_text(output_room_) +
           " of output does not hold one record" + (each_ > 0 ? " of " + size_text(each_) : std::string()) +
           (results_ > 0 ? " with a result of " + size_text(results_) : std::string()) +
           ": give the pipeline larger tiles.");
  }
}

void Packing::expect_size(std::size_t bytes) const {
  if (each_ > 0 && bytes != each_) {
    refuse("A record of " + size_text(bytes) + " is not of the size that all are to have, " + size_text(each_) +
           ": write records of that size, or leave record_bytes away.");
  }
  if (bytes > most_bytes_) {
    refuse("A record of " + std::to_string(bytes) + " bytes is larger than the " + std::to_string(most_bytes_) +
           " that a tile holds: give the pipeline larger tiles, or write it in parts.");
  }
}

void Packing::expect_room(std::size_t bytes, std::size_t records) const {
  if (records == 1) return expect_size(bytes);
  if (records == 0) refuse("Room for no records was claimed: claim it for one at least.");
  if (bytes <= room_ && records <= most_records_ && records <= room_ && has_room(0, 0, bytes, records)) return;
  refuse("A tile does not hold " + std::to_string(records) + " records that take " + std::to_string(bytes) +
         " bytes together: claim room for fewer, or give the pipeline larger tiles.");
}

std::size_t Packing::next_offset(Pack const& pack) const noexcept {
  return each_ > 0 ? pack.used : round_up(pack.used, alignment_);
}

std::size_t Packing::table_offset(Pack const& pack) const noexcept {
  return round_up(pack.used, alignof(RecordPlace));
}

bool Packing::has_room(Pack const& pack, std::size_t bytes, std::size_t records) const noexcept {
  return has_room(next_offset(pack), pack.count(), bytes, records);
}

bool Packing::has_room(std::size_t offset, std::size_t count, std::size_t bytes, std::size_t records) const noexcept {
  if (count + records > most_records_) return false;
  std::size_t const end = offset + bytes;
  if (each_ > 0) return end <= room_;
  return round_up(end, alignof(RecordPlace)) + (count + records) * sizeof(RecordPlace) <= room_;
}

std::span<std::byte> Packing::room(Pack const& pack, std::size_t bytes) const noexcept {
  return pack.loan->input().subspan(next_offset(pack), bytes);
}

void Packing::expect_more(Pack& pack, std::size_t records) const {
  if (records <= pack.entries.capacity() - pack.entries.size()) return;
  // Places first: code that finds room for an entry relies on both.
  std::size_t const more = std::max({first_entries, 2 * pack.entries.size(), pack.entries.size() + records});
  if (each_ == 0) pack.places.reserve(more);
  pack.entries.reserve(more);
}

void Packing::add(Pack& pack, std::size_t bytes, Pack::Entry entry) const noexcept {
  std::size_t const offset = next_offset(pack);
  if (each_ == 0) {
    pack.places.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
  }
  pack.entries.push_back(entry);
  pack.used = offset + bytes;
  pack.bytes += bytes;
  pack.listened = pack.listened || entry.listener != nullptr;
}

/// Adds places and entries for `records` more records, for which memory was reserved; the caller writes them. Pushing
/// them back one at a time costs some nanoseconds for each.
Packing::Notes Packing::room_for(Pack& pack, std::size_t records) const noexcept {
  std::size_t const before = pack.entries.size();
  pack.entries.resize(before + records);
  if (each_ == 0) pack.places.resize(before + records);
  return {each_ == 0 ? pack.places.data() + before : nullptr, pack.entries.data() + before};
}

void Packing::expect_sizes(std::span<std::span<std::byte const> const> records) const {
  bool fit = true;
  for (auto const bytes : records) {
    fit = fit && (each_ > 0 ? bytes.size() == each_ : bytes.size() <= most_bytes_);
  }
  if (fit) return;
  for (auto const bytes : records) expect_size(bytes.size());
}

std::size_t Packing::copy(Pack& pack, std::span<std::span<std::byte const> const> records,
                          std::uint64_t first_tag) const {
  // Counts the records that fit first, so that memory for all their entries is reserved at once.
  std::size_t used = pack.used, count = 0;
  for (; count < records.size(); ++count) {
    std::size_t const offset = each_ > 0 ? used : round_up(used, alignment_);
    if (!has_room(offset, pack.count() + count, records[count].size(), 1)) break;
    used = offset + records[count].size();
  }
  expect_more(pack, count);
  auto const [places, entries] = room_for(pack, count);
  std::byte* const input = pack.loan->input().data();
  std::size_t end = pack.used, all = 0;
  for (std::size_t number = 0; number < count; ++number) {
    auto const bytes = records[number];
    std::size_t const offset = each_ > 0 ? end : round_up(end, alignment_);
    if (!bytes.empty()) std::memcpy(input + offset, bytes.data(), bytes.size());
    if (each_ == 0) places[number] = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes.size())};
    end = offset + bytes.size();
    all += bytes.size();
  }
  // Written after the copies: stores of both wait in the same buffers of the CPU.
  for (Pack::Entry& entry : std::span(entries, count)) entry = {first_tag++, nullptr};
  pack.used = end;
  pack.bytes += all;
  return count;
}

std::size_t Packing::expect_places(std::span<RecordPlace const> places, std::size_t bytes) const {
  std::size_t taken = 0;
  bool lie_well = true;
  for (std::size_t number = 0; number < places.size(); ++number) {
    auto const [offset, own] = places[number];
    std::size_t const end = std::size_t{offset} + own;
    taken = std::max(taken, end);
    lie_well = lie_well && (each_ > 0 ? own == each_ && offset == number * each_ : offset % alignment_ == 0);
  }
  if (lie_well && taken <= bytes) return taken;
  refuse(taken > bytes
             ? "A record that ends " + std::to_string(taken) + " bytes from the first does not fit into the " +
                   std::to_string(bytes) + " that were claimed."
         : each_ > 0 ? "Records that are all of " + size_text(each_) + " lie one behind the other in their room."
                     : "Records begin at multiples of " + std::to_string(alignment_) +
                           " in their room: put them there, or give RecordOptions another alignment.");
}

void Packing::add(Pack& pack, std::span<RecordPlace const> places, std::size_t taken,
                  std::uint64_t first_tag) const noexcept {
  std::size_t const offset = next_offset(pack);
  auto const [own, entries] = room_for(pack, places.size());
  std::size_t bytes = 0;
  for (std::size_t number = 0; number < places.size(); ++number) {
    RecordPlace const place = places[number];
    if (each_ == 0) own[number] = {static_cast<std::uint32_t>(offset + place.offset), place.bytes};
    entries[number] = {first_tag++, nullptr};
    bytes += place.bytes;
  }
  pack.used = offset + taken;
  pack.bytes += bytes;
}

void Packing::move(Pack& from, Pack& to) noexcept {
  std::memcpy(to.loan->input().data(), from.loan->input().data(), from.used);
  // Memory allocated for one also suits the other.
  to.entries.swap(from.entries);
  to.places.swap(from.places);
  to.used = std::exchange(from.used, 0);
  to.bytes = std::exchange(from.bytes, 0);
  to.listened = std::exchange(from.listened, false);
  to.since = std::exchange(from.since, std::nullopt);
}

void Packing::close(Pack& pack) const noexcept {
  pack.loan->filled = pack.used;
  if (each_ > 0) return;
  std::size_t const bytes = pack.places.size() * sizeof(RecordPlace);
  std::memcpy(pack.loan->input().data() + table_offset(pack), pack.places.data(), bytes);
  pack.loan->filled = table_offset(pack) + bytes;
}

DeviceRecords Packing::on_device(Pack const& pack, DeviceTile const& tile) const noexcept {
  DeviceRecords records{
      .input = tile.input.first(pack.used), .output = tile.output.first(produced(pack)), .sequence = tile.sequence};
  if (each_ > 0) {
    records.inputs = RecordTable(pack.count(), static_cast<std::uint32_t>(each_));
  } else {
    // Tiles and tables are aligned for it, on the device as well.
    auto const* const places =
        static_cast<RecordPlace const*>(static_cast<void const*>(tile.input.address() + table_offset(pack)));
    records.inputs = RecordTable(pack.count(), places);
  }
  records.outputs = in_place_ ? records.inputs : RecordTable(pack.count(), static_cast<std::uint32_t>(results_));
  return records;
}

std::uint64_t Packing::variant(Pack const& pack) noexcept {
  // The rest of the filled bytes is the table, so the number of records follows from the sizes.
  return pack.used;
}

std::size_t Packing::produced(Pack const& pack) const noexcept {
  return in_place_ ? pack.used : pack.count() * results_;
}

std::size_t Packing::result_bytes(Pack const& pack) const noexcept {
  return in_place_ ? pack.bytes : produced(pack);
}

RecordCompletions Packing::completions(Pack const& pack, Tile const& tile, Outcome outcome,
                                       Failure const* failure) const noexcept {
  RecordCompletions all(outcome, failure, pack.entries);
  if (!all.ok()) return all;
  all.outputs_ = tile.output().first(produced(pack));
  all.each_ = in_place_ ? each_ : results_;
  if (in_place_ && each_ == 0) all.places_ = pack.places.data();
  return all;
}

}  // namespace penstock
