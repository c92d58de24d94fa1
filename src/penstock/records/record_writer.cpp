// SPDX-License-Identifier: Apache-2.0
#include "penstock/records/record_writer.hpp"

#include <cstring>
#include <optional>
#include <string>

#include "penstock/core/error.hpp"
#include "penstock/records/record_parts.hpp"

namespace penstock {

RecordRoom::~RecordRoom() {
  if (records_ == nullptr) return;
  desk_->claim.close();
  records_->parts_->put_down(*desk_, *pack_);
}

void RecordRoom::commit(std::size_t bytes, std::uint64_t tag, RecordListener* listener) {
  if (records_ == nullptr) {
    throw Error(ErrorKind::bad_argument, "The record was committed before: claim room for another.");
  }
  // However it ends, the pack is put down when `end` dies.
  RecordRoom const end(std::move(*this));
  desk_->claim.close();
  Packing const& packing = end.records_->parts_->packing;
  packing.expect_size(bytes);
  if (bytes > bytes_.size()) {
    throw Error(ErrorKind::bad_argument, "A record of " + std::to_string(bytes) + " bytes does not fit into the " +
                                             std::to_string(bytes_.size()) + " that were claimed for it.");
  }
  packing.expect_another(*pack_);
  if (listener != nullptr) listener->committed();
  // The room lies behind records that may have left while it was filled.
  std::byte* const place = packing.room(*pack_, bytes).data();
  if (place != bytes_.data()) std::memmove(place, bytes_.data(), bytes);
  packing.add(*pack_, bytes, {tag, listener});
}

RecordWriter::~RecordWriter() {
  if (desk_ != nullptr) records_->parts_->departures.give_back(*desk_);
}

RecordRoom RecordWriter::claim(std::size_t most) {
  RecordRoom room = *room_for(most, true);
  if (room.pack_->count() > 0) records_->parts_->departures.open_claim(*desk_, *room.pack_);
  return room;
}

std::optional<RecordRoom> RecordWriter::room_for(std::size_t bytes, bool may_wait) {
  Pack* const pack = records_->parts_->take_up(*desk_, bytes, may_wait);
  if (pack == nullptr) return std::nullopt;
  return RecordRoom(*records_, *desk_, *pack, records_->parts_->packing.room(*pack, bytes));
}

bool RecordWriter::write(std::span<std::byte const> bytes, std::uint64_t tag, RecordListener* listener, bool may_wait) {
  auto room = room_for(bytes.size(), may_wait);
  if (!room) return false;
  if (!bytes.empty()) std::memcpy(room->bytes().data(), bytes.data(), bytes.size());
  room->commit(bytes.size(), tag, listener);
  return true;
}

void RecordWriter::append(std::span<std::byte const> bytes, std::uint64_t tag) {
  write(bytes, tag, nullptr, true);
}

void RecordWriter::append(std::span<std::byte const> bytes, RecordListener& listener, std::uint64_t tag) {
  write(bytes, tag, &listener, true);
}

bool RecordWriter::try_append(std::span<std::byte const> bytes, std::uint64_t tag) {
  return write(bytes, tag, nullptr, false);
}

bool RecordWriter::try_append(std::span<std::byte const> bytes, RecordListener& listener, std::uint64_t tag) {
  return write(bytes, tag, &listener, false);
}

void RecordWriter::flush() noexcept {
  records_->parts_->departures.send_from(*desk_, Departure::asked);
}

}  // namespace penstock
