// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/stream_tiles.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "engine/core/number_text.hpp"

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

void expect_lines(FileSourceOptions const& options) {
  if (!options.text || (options.framing != nullptr && has_lines(*options.framing))) return;
  throw Error(ErrorKind::bad_argument,
              "Inputs that are text are cut into lines: give `lines()` as framing, or do not say that they are text.");
}

}  // namespace

StreamTiles::StreamTiles(FileSourceOptions const& options, std::size_t tile_bytes, bool places)
    : options_(options), tile_bytes_(tile_bytes), wants_places_(places) {
  expect_overlap_fits(options, tile_bytes);
  expect_lines(options);
  if (options_.framing != nullptr && options_.framing->head_bytes() == 0) cut_by({options_.framing, 0});
  if (options_.text) cut_ = nullptr;
}

std::size_t StreamTiles::head_bytes() const noexcept {
  if (options_.framing == nullptr) return 0;
  return options_.text ? std::min(text_head_bytes, tile_bytes_) : options_.framing->head_bytes();
}

void StreamTiles::cut_by(Framing::OfInput const& of, bool ends_by_cr) {
  cut_ = std::make_shared<InputCut>(of, CutOptions{tile_bytes_, options_.long_records, options_.overlap, ends_by_cr});
  loss_ = loss();
  cutter_.emplace(of.framing, options_.long_records);
  cutter_->restart(of.head);
  if (wants_places_) cutter_->want_places();
}

void StreamTiles::cut_text(TextHead const& head) {
  cut_by({head.ends_by_cr ? delimited_by("\r") : options_.framing, head.mark}, head.ends_by_cr);
}

std::size_t StreamTiles::cut_by_head(std::span<std::byte const> first) {
  try {
    if (options_.text) {
      cut_text(*text_head_of(first, true));
      return cut_->head();
    }
    cut_by(options_.framing->of_input(first));
    return cut_->head();
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
  if (head_bytes() != 0) {
    cut_ = nullptr;
  } else if (cutter_) {
    cutter_->restart();
  }
  read_to_end_ = false;
  given_ = 0;
  again_.clear();
}

StreamTiles::Next StreamTiles::next(ByteStream& stream, std::span<std::byte> tile) {
  std::size_t const again = again_.size();
  std::ranges::copy(again_, tile.begin());
  auto const got = gather(stream, tile.subspan(again));
  Next next{(cutter_ ? cutter_->offset() : given_) - again,
            again + got.bytes,
            got.bytes,
            got.ended,
            got.ended && cutter_ ? cutter_->unfinished_bytes() : 0,
            cutter_ ? cutter_->take_records() : TileRecords()};
  given_ += got.bytes;
  auto const last = tile.first(next.bytes).last(std::min(next.bytes, options_.overlap));
  again_.assign(last.begin(), last.end());
  return next;
}

ByteStream::Gathered StreamTiles::gather(ByteStream& stream, std::span<std::byte> room) {
  if (options_.framing == nullptr) return read(stream, room);
  std::size_t const came = cut_ != nullptr ? 0 : options_.text ? gather_text(stream, room) : gather_head(stream, room);
  if (cut_ == nullptr) return {};
  // The bytes that came with the head of a stream are used before more are waited for.
  std::size_t held = cutter_->begin(room);
  ByteStream::Gathered got{came, read_to_end_};
  for (bool reads = came == 0;; reads = true) {
    if (reads) got = read_to_end_ ? ByteStream::Gathered{0, true} : read(stream, room.subspan(held));
    read_to_end_ = got.ended;
    try {
      auto const cut = cutter_->cut(room, held + got.bytes, got.ended);
      if (cut.ready) return {cut.bytes, got.ended && !cutter_->holds_rest()};
      held = cut.bytes;
      if (!options_.stop.stop_requested()) continue;
      cutter_->break_off(held);
      return {};
    } catch (Error const& error) {
      // Whole records in front have left with the preceding tile.
      std::string text = std::string(error.what()) + " That is at byte " + std::to_string(cutter_->offset()) +
                         ": what is in front of it was read, and nothing from there on.";
      if (cut_->framing()->finds_records())
        text += " Of a regular file that is not compressed what lies behind is read, too.";
      throw FileProblem(text);
    }
  }
}

/// Does the same as ByteStream::gather; a stop is not the end of the stream.
ByteStream::Gathered StreamTiles::read(ByteStream& stream, std::span<std::byte> room) const {
  auto const got = stream.gather(room, options_.linger, options_.stop);
  return {got.bytes, got.ended && !options_.stop.stop_requested()};
}

/// Reads the head of a stream, which determines its cut; a stop may come before. Returns the number of bytes of records
/// that came with it.
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

/// Does the same as gather_head for text. After a stop only the bytes read so far are examined.
std::size_t StreamTiles::gather_text(ByteStream& stream, std::span<std::byte> room) {
  std::size_t const most = std::min(head_bytes(), room.size());
  std::size_t held = 0;
  std::optional<TextHead> head;
  for (bool all = false; !head;) {
    auto const got = read(stream, room.subspan(held));
    held += got.bytes;
    read_to_end_ = got.ended;
    // A first line may be longer than the usual search.
    all = got.ended || held >= (has_end_of_line(room.first(std::min(held, most))) ? most : room.size()) ||
          (got.bytes == 0 && options_.stop.stop_requested());
    head = text_head_of(room.first(held), all);
  }
  cut_text(*head);
  std::memmove(room.data(), room.data() + head->mark, held - head->mark);
  return held - head->mark;
}

}  // namespace penstock
