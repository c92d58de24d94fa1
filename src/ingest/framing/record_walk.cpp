// SPDX-License-Identifier: Apache-2.0
#include "ingest/framing/record_walk.hpp"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace penstock {
namespace {

[[noreturn]] void refuse_walk(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}
[[noreturn]] void refuse_more_than(std::size_t records) {
  refuse_walk("The second input of a tile has room for the places of " + std::to_string(records) +
              " records, and there are more: make it larger, as record_places_bytes says.");
}

/// Number of places for which there is room.
std::size_t room_for_places(std::span<std::byte const> records, std::span<std::byte const> to) {
  if (records.size() > std::numeric_limits<std::uint32_t>::max())
    refuse_walk("Places of records have 32 bits: make tiles smaller than 4 GiB.");
  if (to.size() < sizeof(RecordPlaces))
    refuse_walk("The second input of a tile has no room for the places of records: make it larger.");
  return (to.size() - sizeof(RecordPlaces)) / sizeof(std::uint32_t);
}

/// Writes the head in front of the places and the data behind them, and returns the size of all.
std::size_t write_around(Framing const& last, std::span<std::byte const> records, std::span<std::uint32_t const> places,
                         std::span<std::byte> to) {
  RecordPlaces head{.records = static_cast<std::uint32_t>(places.size()), .notes = last.notes()};
  std::size_t const bytes = sizeof head + places.size_bytes();
  std::size_t const more = last.write_more(records, places, head.notes, to.subspan(bytes));
  std::memcpy(to.data(), &head, sizeof head);
  return bytes + more;
}

}  // namespace

Walked walk_records(FramingRef framing, std::span<std::byte const> bytes, std::size_t border,
                    std::vector<std::uint32_t>* places, std::uint32_t base) {
  Walked walked{std::move(framing)};
  try {
    while (walked.bytes < bytes.size() && walked.bytes < border) {
      auto const rest = bytes.subspan(walked.bytes);
      auto const change = walked.framing->change(rest);
      walked.part = change == Framing::Change::part && walked.bytes != 0;
      if (walked.part) return walked;
      walked.next = walked.framing->record_bytes(rest);
      if (walked.next == 0) refuse_walk("A framing says that a record has no bytes: it has at least one.");
      if (!walked.next || *walked.next > rest.size()) return walked;
      auto const length = static_cast<std::size_t>(*walked.next);
      if (change != Framing::Change::none) walked.framing = walked.framing->behind(rest.first(length));
      if (places != nullptr) places->push_back(base + static_cast<std::uint32_t>(walked.bytes));
      walked.bytes += length;
    }
    walked.next.reset();
  } catch (Error const& error) {
    walked.next.reset();
    walked.damage = error;
  }
  return walked;
}

std::size_t write_places(TileRecords const& of, std::span<std::byte const> records, std::span<std::byte> to) {
  if (of.last == nullptr) return write_record_places(*of.framing, records, to);
  std::size_t const room = room_for_places(records, to);
  if (of.places.size() > room) refuse_more_than(room);
  if (!of.places.empty())
    std::memcpy(to.data() + sizeof(RecordPlaces), of.places.data(), of.places.size() * sizeof of.places.front());
  return write_around(*of.last, records, of.places, to);
}

std::size_t write_record_places(Framing const& framing, std::span<std::byte const> records, std::span<std::byte> to) {
  std::size_t const room = room_for_places(records, to);
  auto* const places = reinterpret_cast<std::uint32_t*>(to.data() + sizeof(RecordPlaces));
  std::size_t count = 0;
  Framing const* last = &framing;
  FramingRef changed;
  each_record(framing, records, [&](std::span<std::byte const> record) {
    if (count == room) refuse_more_than(room);
    places[count++] = static_cast<std::uint32_t>(record.data() - records.data());
    // each_record does not tell the framing with which it continues.
    if (last->change(record) == Framing::Change::none) return;
    changed = last->behind(record);
    last = changed.get();
  });
  return write_around(*last, records, {places, count}, to);
}

}  // namespace penstock
