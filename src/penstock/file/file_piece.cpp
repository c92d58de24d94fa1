// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/file_piece.hpp"

#include <string>
#include <utility>

#include "penstock/core/number_text.hpp"

namespace penstock {
namespace {

/// Writes into the second input, if there is one, where records begin.
void note_places(FilePiece const& piece, Tile& tile, std::size_t filled) {
  if (piece.records.framing == nullptr || tile.input(1).empty()) return;
  tile.more_filled[0] = write_places(piece.records, tile.input().first(filled), tile.input(1));
}

}  // namespace

std::size_t PieceReader::fill(FilePiece& piece, Tile& tile) {
  if (piece.problem) throw FileProblem(*piece.name, *piece.problem);
  // Let go of at the end of this call: the last piece closes the file.
  auto const file = std::exchange(piece.file, nullptr);
  try {
    std::size_t const filled = file == nullptr ? tile.filled : read(*file, piece, tile.input());
    note_places(piece, tile, filled);
    note_end(*piece.name, piece.unfinished_bytes);
    return filled;
  } catch (FileProblem const& problem) {
    throw FileProblem(*piece.name, problem);
  } catch (Error const& error) {
    throw FileProblem(*piece.name, FileProblem(error.what()));
  }
}

void PieceReader::note_end(std::string const& name, std::uint64_t unfinished_bytes) {
  if (unfinished_bytes == 0) return;
  std::scoped_lock const lock(mutex_);
  if (!first_end_.empty()) {
    ++other_ends_;
    return;
  }
  first_end_ = name + " ends within a record: " +
               (unfinished_bytes == 1 ? "its last byte is left over."
                                      : "its last " + std::to_string(unfinished_bytes) + " bytes are left over.");
}

std::string PieceReader::describe() const {
  std::scoped_lock const lock(mutex_);
  if (other_ends_ == 0) return first_end_;
  return first_end_ + " So " + (other_ends_ == 1 ? "does" : "do") + " " + count_text(other_ends_, "other file") + ".";
}

RecordLoss PieceReader::loss() const {
  std::scoped_lock const lock(mutex_);
  return loss_;
}

/// Reads a piece, and looks behind the last one whether the file changed meanwhile.
std::size_t PieceReader::read(OpenFile& file, FilePiece& piece, std::span<std::byte> tile) {
  std::size_t filled = 0;
  try {
    filled = piece.chain != nullptr ? read_chained(file, piece, tile)
                                    : readers_.read(file, piece.place.offset, tile.first(piece.bytes));
  } catch (...) {
    file.pieces_left.fetch_sub(1, std::memory_order_acq_rel);
    throw;
  }
  if (file.pieces_left.fetch_sub(1, std::memory_order_acq_rel) == 1) file.expect_unchanged();
  return filled;
}

/// Reads a piece of a file whose records lead from one to the next.
std::size_t PieceReader::read_chained(OpenFile& file, FilePiece& piece, std::span<std::byte> tile) {
  auto const from_file = [&](std::uint64_t offset, std::span<std::byte> to) {
    return to.data() == tile.data() ? readers_.read(file, offset, to) : file.read_at(offset, to);
  };
  auto got = piece.chain->read(from_file, piece.number, tile);
  piece.place.offset = got.offset;
  piece.unfinished_bytes = got.unfinished_bytes;
  piece.records = std::move(got.records);
  note_loss(got.loss);
  return got.bytes;
}

void PieceReader::note_loss(RecordLoss const& loss) {
  if (loss.none()) return;
  std::scoped_lock const lock(mutex_);
  loss_ += loss;
}

}  // namespace penstock
