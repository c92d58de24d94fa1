// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/stream_tiles.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "penstock/core/number_text.hpp"

namespace penstock {
namespace {

/// Throws: Error of kind bad_argument, if they cannot.
void expect_overlap_fits(FileSourceOptions const& options, std::size_t tile_bytes) {
  if (options.overlap > tile_bytes / 2) {
    throw Error(ErrorKind::bad_argument, "Tiles of " + size_text(tile_bytes) + " are to begin with " +
                                             size_text(options.overlap) +
                                             " of the tile before; that can be half of a tile: make tiles larger.");
  }
  if (options.overlap == 0 || options.framing == nullptr) return;
  std::size_t const record = options.framing->equal_bytes();
  if (record == 0 || options.overlap % record != 0) {
    throw Error(ErrorKind::bad_argument,
                "Tiles of records overlap only by a number of whole records that are all of one size: name no framing, "
                "or equal_records and a multiple of their size.");
  }
}

}  // namespace

StreamTiles::StreamTiles(FileSourceOptions const& options, std::size_t tile_bytes, bool places)
    : options_(options), tile_bytes_(tile_bytes), wants_places_(places) {
  expect_overlap_fits(options, tile_bytes);
  if (options_.framing != nullptr && options_.framing->head_bytes() == 0) cut_by({options_.framing, 0});
}

void StreamTiles::cut_by(Framing::OfInput of) {
  cut_ = std::move(of);
  loss_ = loss();
  cutter_.emplace(cut_.framing, options_.long_records);
  cutter_->restart(cut_.head);
  if (wants_places_) cutter_->want_places();
}

std::size_t StreamTiles::cut_by_head(std::span<std::byte const> first) {
  try {
    cut_by(options_.framing->of_input(first));
    return cut_.head;
  } catch (Error const& error) {
    throw FileProblem(error.what());
  }
}

void StreamTiles::break_off() {
  if (cutter_) cutter_->break_off();
}

RecordLoss StreamTiles::loss() const {
  RecordLoss all = loss_;
  if (cutter_) all += cutter_->loss();
  return all;
}

void StreamTiles::restart() {
  if (options_.framing != nullptr && options_.framing->head_bytes() != 0) {
    cut_ = {};
  } else if (cutter_) {
    cutter_->restart();
  }
  read_to_end_ = false;
  given_ = 0;
  again_.clear();
  ahead_.reset();
}

StreamTiles::Next StreamTiles::next(ByteStream& stream, std::span<std::byte> tile) {
  std::size_t const again = again_.size();
  std::ranges::copy(again_, tile.begin());
  auto const got = gather(stream, tile.subspan(again));
  Next next{(cutter_ ? cutter_->offset() : given_) - again, again + got.bytes, got.bytes, got.ended,
                  got.ended && cutter_ ? cutter_->unfinished_bytes() : 0,
                  cutter_ ? cutter_->take_records() : TileRecords()};
  given_ += got.bytes;
  auto const last = tile.first(next.bytes).last(std::min(next.bytes, options_.overlap));
  again_.assign(last.begin(), last.end());
  return next;
}

ByteStream::Gathered StreamTiles::gather(ByteStream& stream, std::span<std::byte> room) {
  if (options_.framing == nullptr) return read(stream, room);
  std::size_t const came = cut_.framing == nullptr ? gather_head(stream, room) : 0;
  if (cut_.framing == nullptr) return {};
  // What came with the head of a stream is looked at before more is waited for.
  std::size_t held = cutter_->begin(room);
  ByteStream::Gathered got{came, read_to_end_};
  for (bool reads = came == 0;; reads = true) {
    if (reads && !read_to_end_) got = read(stream, room.subspan(held));
    if (reads && read_to_end_) got = {0, true};
    read_to_end_ = got.ended;
    try {
      auto const found = cut(stream, room, held + got.bytes);
      if (found.ready) return {found.bytes, read_to_end_ && !cutter_->holds_rest()};
      held = found.bytes;
      if (!options_.stop.stop_requested()) continue;
      cutter_->break_off(held);
      return {};
    } catch (FileProblem const&) {
      throw;
    } catch (Error const& error) {
      // Whole records in front have left with the tile before.
      std::string text = std::string(error.what()) + " That is at byte " + std::to_string(cutter_->offset()) +
                         ": what is in front of it was read, and nothing from there on.";
      if (cut_.framing->finds_records())
        text += " Of a regular file that is not compressed what lies behind is read, too.";
      throw FileProblem(text);
    }
  }
}

/// As StreamCutter::cut. A tile that is full of one record may have all of it, if nothing is behind it.
StreamCutter::Cut StreamTiles::cut(ByteStream& stream, std::span<std::byte> room, std::size_t bytes) {
  auto const found = cutter_->cut(room, bytes, read_to_end_, false);
  if (!found.full) return found;
  std::byte more{};
  auto const got = read(stream, {&more, 1});
  read_to_end_ = got.bytes == 0 && got.ended;
  if (got.bytes != 0) ahead_ = more;
  return cutter_->cut(room, bytes, read_to_end_);
}

/// As ByteStream::gather; a stop is no end of the stream.
ByteStream::Gathered StreamTiles::read(ByteStream& stream, std::span<std::byte> room) {
  std::size_t const ahead = ahead_ && !room.empty() ? 1 : 0;
  if (ahead != 0) room.front() = *std::exchange(ahead_, std::nullopt);
  auto const got = stream.gather(room.subspan(ahead), ahead == 0 ? options_.linger : std::chrono::microseconds(0),
                                 options_.stop);
  return {ahead + got.bytes, got.ended && !options_.stop.stop_requested()};
}

/// Reads the head of a stream, and how it is cut; a stop may come before. Returns how many bytes of records came with
/// it.
std::size_t StreamTiles::gather_head(ByteStream& stream, std::span<std::byte> room) {
  std::size_t const head = std::min(options_.framing->head_bytes(), room.size());
  std::size_t held = 0;
  while (held < head && !read_to_end_) {
    auto const got = read(stream, room.subspan(held));
    held += got.bytes;
    read_to_end_ = got.ended;
    if (got.bytes == 0 && options_.stop.stop_requested()) return 0;
  }
  std::size_t const gone = cut_by_head(room.first(std::min(held, options_.framing->head_bytes())));
  std::memmove(room.data(), room.data() + gone, held - gone);
  return held - gone;
}

}  // namespace penstock
