// SPDX-License-Identifier: Apache-2.0
#include "penstock/records.hpp"

#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/say.hpp"
#include "penstock/error.hpp"
#include "records/record_parts.hpp"

namespace penstock {
namespace {

constexpr std::chrono::hours for_ever{24};

}  // namespace

RecordRoom::~RecordRoom() {
  if (records_ == nullptr) return;
  desk_->claim.close();
  records_->parts_->put_down(*desk_, *pack_);
}

void RecordRoom::commit(std::size_t bytes, std::uint64_t tag, RecordListener* listener) {
  if (records_ == nullptr) {
    throw Error(ErrorKind::bad_argument, "The record was committed before: claim room for another.");
  }
  // The pack is put down when `end` dies, however this ends.
  RecordRoom const end(std::move(*this));
  desk_->claim.close();
  Packing const& packing = end.records_->parts_->packing;
  packing.expect_size(bytes);
  if (bytes > bytes_.size()) {
    throw Error(ErrorKind::bad_argument, "A record of " + std::to_string(bytes) + " bytes does not fit into the " +
                                             std::to_string(bytes_.size()) + " that were claimed for it.");
  }
  packing.expect_more(*pack_, 1);
  if (listener != nullptr) listener->committed();
  // Records in front of the room may have left while it was filled.
  std::byte* const place = packing.room(*pack_, bytes).data();
  if (place != bytes_.data()) std::memmove(place, bytes_.data(), bytes);
  packing.add(*pack_, bytes, {tag, listener});
}

void RecordRoom::commit(std::span<RecordPlace const> places, std::uint64_t first_tag) {
  if (records_ == nullptr) {
    throw Error(ErrorKind::bad_argument, "The room was committed before: claim another.");
  }
  RecordRoom const end(std::move(*this));
  desk_->claim.close();
  Packing const& packing = end.records_->parts_->packing;
  if (places.size() > end.most_) {
    throw Error(ErrorKind::bad_argument, count_text(places.size(), "record") + " do not fit into room for " +
                                             std::to_string(end.most_) + ": claim room for as many.");
  }
  std::size_t const taken = packing.expect_places(places, end.bytes_.size());
  packing.expect_more(*end.pack_, places.size());
  // Records in front of the room may have left while it was filled.
  std::byte* const place = packing.room(*end.pack_, taken).data();
  if (place != end.bytes_.data()) std::memmove(place, end.bytes_.data(), taken);
  packing.add(*end.pack_, places, taken, first_tag);
}

RecordWriter::~RecordWriter() {
  if (desk_ != nullptr && records_->parts_->process.is_current()) records_->parts_->departures.give_back(*desk_);
}

RecordRoom RecordWriter::claim(std::size_t most, std::size_t records) {
  RecordRoom room = *room_for(most, records, true);
  if (room.pack_->count() > 0) records_->parts_->departures.open_claim(*desk_, *room.pack_);
  return room;
}

std::optional<RecordRoom> RecordWriter::room_for(std::size_t bytes, std::size_t records, bool may_wait) {
  Pack* const pack = records_->parts_->take_up(*desk_, bytes, records, may_wait);
  if (pack == nullptr) return std::nullopt;
  return RecordRoom(*records_, *desk_, *pack, records_->parts_->packing.room(*pack, bytes), records);
}

bool RecordWriter::write(std::span<std::byte const> bytes, std::uint64_t tag, RecordListener* listener, bool may_wait) {
  auto room = room_for(bytes.size(), 1, may_wait);
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

std::size_t RecordWriter::write_many(std::span<std::span<std::byte const> const> records, std::uint64_t first_tag,
                                     bool may_wait) {
  Packing const& packing = records_->parts_->packing;
  packing.expect_sizes(records);
  std::size_t written = 0;
  try {
    while (written < records.size()) {
      auto const room = room_for(records[written].size(), 1, may_wait);
      if (!room) break;
      written += packing.copy(*room->pack_, records.subspan(written), first_tag + written);
    }
  } catch (...) {
    if (written == 0) throw;  // Otherwise the caller gets the number, and calls again.
  }
  return written;
}

std::size_t RecordWriter::append_many(std::span<std::span<std::byte const> const> records, std::uint64_t first_tag) {
  return write_many(records, first_tag, true);
}

std::size_t RecordWriter::try_append_many(std::span<std::span<std::byte const> const> records,
                                          std::uint64_t first_tag) {
  return write_many(records, first_tag, false);
}

void RecordWriter::flush() noexcept {
  records_->parts_->departures.send_from(*desk_, Departure::asked);
}

std::string describe(RecordReport const& report) {
  std::string text = count_text(report.done, "record") + " done";
  if (report.failed > 0) text += ", " + std::to_string(report.failed) + " failed";
  if (report.cancelled > 0) text += ", " + std::to_string(report.cancelled) + " cancelled";
  text += "; tiles left full " + std::to_string(report.left_for(Departure::full)) + ", for hungry lanes " +
          std::to_string(report.left_for(Departure::hungry)) + ", late " +
          std::to_string(report.left_for(Departure::late)) + ", when asked " +
          std::to_string(report.left_for(Departure::asked));
  return text + "\n" + describe(report.tiles);
}

EventCount& RecordReply::bell() const noexcept {
  auto& bells = records_.parts_->bells;
  return bells.at(std::hash<void const*>()(this) / alignof(RecordReply) / 8 % bells.size());
}

RecordReply::~RecordReply() {
  if (!ready() && records_.parts_->process.is_current()) wait();
}

void RecordReply::committed() {
  if (!ready()) {
    throw Error(ErrorKind::bad_argument,
                "A record was written with this reply and has no answer yet: wait for it, or use another reply.");
  }
  state_.store(State::asked, std::memory_order_relaxed);
}

Outcome RecordReply::wait(std::chrono::nanoseconds spin) {
  // Relaxed: nothing belongs to a reply that was not used, and `ready` is what shows an answer.
  if (state_.load(std::memory_order_relaxed) == State::unused) {
    throw Error(ErrorKind::bad_argument, "There is no answer to wait for: write a record with this reply first.");
  }
  while (!bell().await([this] { return ready(); }, spin, for_ever)) {
  }
  return outcome_;
}

void RecordReply::complete(RecordCompletion const& completion) {
  EventCount& rung = bell();
  outcome_ = completion.outcome;
  failure_.reset();
  try {
    output_.assign(completion.output.begin(), completion.output.end());
    if (completion.failure != nullptr) failure_ = *completion.failure;
  } catch (std::bad_alloc const&) {
    outcome_ = Outcome::failed;
    output_.clear();
    failure_ = Failure{"reply", "no memory for it", ErrorKind::out_of_memory};  // The texts are short enough to need no
                                                                                // memory.
  }
  // The owner may use it again, or destroy it, from here on.
  state_.store(State::answered, std::memory_order_release);
  rung.notify();
}

Records::Records(Pipeline& pipeline, RecordOptions options) : parts_(std::make_unique<Parts>(pipeline, options)) {}

Records::~Records() {
  if (left_to_parent(parts_)) return;
  if (!parts_->clock.joinable()) return;
  stop();
  try {
    static_cast<void>(drain());  // It reports lost records itself.
  } catch (std::exception const& exception) {
    say("the records could not report on their last run: %s", exception.what());
  }
}

void Records::start(RecordStages stages, RecordSink sink) {
  parts_->start(std::move(stages), std::move(sink), {});
}

void Records::start_by_tiles(RecordStages stages, RecordTileSink sink) {
  parts_->start(std::move(stages), {}, std::move(sink));
}

RecordWriter Records::writer() {
  return {*this, parts_->departures.take_desk()};
}

RecordReport Records::drain() {
  return parts_->drain();
}

void Records::stop() noexcept {
  parts_->pipeline.stop();
}

std::size_t Records::most_bytes() const noexcept {
  return parts_->packing.most_bytes();
}

}  // namespace penstock
