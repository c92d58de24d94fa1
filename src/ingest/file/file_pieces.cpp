// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/file_pieces.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace penstock {

bool FilePieces::suit(InputCut const* cut) noexcept {
  return cut == nullptr || cut->delimited() || cut->equal() || cut->chained();
}

FilePieces::FilePieces(ChainedFile file, FileSourceOptions const& options, std::size_t tile_bytes, bool places,
                       std::optional<FileRange> const& range)
    : file_(std::move(file)),
      size_(range ? range->end : file_.file->size()),
      tile_bytes_(tile_bytes),
      overlap_(options.overlap),
      place_{file_.cut != nullptr ? file_.cut->head() : 0, false} {
  if (range) {
    if (file_.cut != nullptr && file_.cut->chained())
      throw FileProblem("a part of it cannot be read, since its records lead from one to the next; read all of it");
    if (size_ > file_.file->size() || range->begin >= size_)
      throw FileProblem("it has no bytes from " + std::to_string(range->begin) + " to " + std::to_string(size_) +
                        " any more; divide it anew");
    place_.offset = std::max<std::uint64_t>(place_.offset, range->begin);
  }
  file_.file->pieces_left = 1;  // The count stays above 0 until the last piece is given out.
  if (file_.cut == nullptr) return;
  file_.file->remember_ends();
  if (!file_.cut->chained()) return;
  Framing::OfInput const of{file_.cut->framing(), file_.cut->head()};
  file_.pieces = std::make_shared<ChainedPieces>(of, tile_bytes, size_, options.long_records, places);
}

FilePieces::Next FilePieces::next() {
  Next next;
  if (file_.pieces != nullptr) {
    next.piece = file_.give();
    next.last = file_.gave_all();
    return next;
  }
  next = file_.cut == nullptr ? bytes() : file_.cut->delimited() ? delimited() : equal();
  if (next.last) file_.file->pieces_left.fetch_sub(1, std::memory_order_relaxed);
  return next;
}

std::optional<ChainedFile> FilePieces::chained() const {
  return file_.pieces == nullptr ? std::nullopt : std::optional(file_);
}

FilePieces::Next FilePieces::at(std::uint64_t offset, std::size_t bytes) const {
  file_.file->pieces_left.fetch_add(1, std::memory_order_relaxed);
  return {{.place = {file_.number, offset},
           .file = file_.file,
           .name = file_.name,
           .cut = file_.cut,
           .bytes = bytes,
           .records = {.framing = file_.cut != nullptr ? file_.cut->framing() : nullptr}}};
}

FilePieces::Next FilePieces::delimited() {
  auto const look = [this](std::uint64_t offset, std::span<std::byte> to) { return file_.file->look_at(offset, to); };
  auto const piece = file_.cut->delimited()->next(look, place_, size_);
  place_ = piece.next;
  Next next = at(piece.offset, piece.bytes);
  next.loss = piece.loss;
  next.last = !place_.within_long && place_.offset == size_;
  return next;
}

FilePieces::Next FilePieces::equal() {
  auto const piece = file_.cut->equal()->piece(place_.offset, size_);
  Next next = at(std::exchange(place_.offset, piece.next), piece.bytes);
  next.piece.unfinished_bytes = piece.unfinished_bytes;
  next.last = piece.next == size_;
  return next;
}

FilePieces::Next FilePieces::bytes() {
  std::uint64_t const rest = size_ - place_.offset;
  bool const last = rest <= tile_bytes_;
  Next next = at(place_.offset, last ? static_cast<std::size_t>(rest) : tile_bytes_);
  place_.offset += tile_bytes_ - overlap_;
  next.last = last;
  return next;
}

}  // namespace penstock
