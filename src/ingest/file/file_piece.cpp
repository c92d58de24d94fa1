// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/file_piece.hpp"

#include <functional>
#include <string>
#include <utility>

#include "engine/core/number_text.hpp"
#include "ingest/file/text_head.hpp"

namespace penstock {
namespace {

/// Writes the places of the records to the second input, if there is one.
void note_places(FilePiece const& piece, Tile& tile, std::size_t filled) {
  if (piece.records.framing == nullptr || tile.input(1).empty()) return;
  tile.more_filled[0] = write_places(piece.records, tile.input().first(filled), tile.input(1));
}

}  // namespace

std::size_t PieceReader::fill(FilePiece& piece, Tile& tile) {
  if (piece.problem) throw FileProblem(*piece.name, *piece.problem);
  // Released at the end of this call: the last piece closes the file.
  auto const file = std::exchange(piece.file, nullptr);
  try {
    std::size_t const filled = file == nullptr ? tile.filled : read(*file, piece, tile.input());
    note_places(piece, tile, filled);
    if (piece.cut != nullptr && piece.cut->ends_by_cr()) end_lines_by_lf(tile.input().first(filled));
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

std::vector<std::string> PieceReader::remarks() const {
  std::scoped_lock const lock(mutex_);
  std::vector<std::string> all;
  auto const add = [&all](std::string const& first, std::uint64_t others, std::string const& does) {
    if (first.empty()) return;
    all.push_back(first + (others == 0 ? "" : " So " + does + " " + count_text(others, "other file") + "."));
  };
  add(first_end_, other_ends_, other_ends_ == 1 ? "does" : "do");
  add(first_grown_, others_grown_, "did");
  return all;
}

void PieceReader::note_loss(RecordLoss const& loss) {
  if (loss.none()) return;
  std::scoped_lock const lock(mutex_);
  loss_ += loss;
}

RecordLoss PieceReader::loss() const {
  std::scoped_lock const lock(mutex_);
  return loss_;
}

/// Reads a piece; after the last one it checks whether the file changed meanwhile.
std::size_t PieceReader::read(OpenFile& file, FilePiece& piece, std::span<std::byte> tile) {
  std::size_t filled = 0;
  try {
    filled = piece.chain != nullptr ? read_chained(file, piece, tile)
                                    : readers_.read(file, piece.place.offset, tile.first(piece.bytes));
    // A file may have fewer bytes than its size says, as files of the system do, but not fewer than it had.
    if (piece.chain == nullptr && filled < piece.bytes) file.expect_only_grown();
    if (piece.cut != nullptr) filled = leave_begun(file, piece, tile.first(filled));
    // A record that a writer has begun is not lost.
    if (piece.chain == nullptr && file.grew()) piece.unfinished_bytes = 0;
    if (piece.chain == nullptr && piece.unfinished_bytes != 0) note_loss({.unfinished = 1});
  } catch (...) {
    file.pieces_left.fetch_sub(1, std::memory_order_acq_rel);
    throw;
  }
  if (file.pieces_left.fetch_sub(1, std::memory_order_acq_rel) == 1) expect_readable(file, piece);
  return filled;
}

/// Number of bytes of these records that are whole: if the file has grown by now, its last bytes may be a part of a
/// record.
std::size_t PieceReader::leave_begun(OpenFile& file, FilePiece const& piece, std::span<std::byte const> records) const {
  Framing const& framing = *piece.cut->framing();
  bool const at_end = piece.place.offset + records.size() == file.size() && !records.empty();
  if (framing.delimiter_bytes() == 0 || !at_end) return records.size();
  std::size_t const whole = framing.whole_bytes(records);
  if (whole == records.size() || file.grew()) return whole;
  file.ends_without_delimiter.store(true, std::memory_order_relaxed);
  return records.size();
}

/// Checks, once all pieces were read, whether the file changed meanwhile.
void PieceReader::expect_readable(OpenFile const& file, FilePiece const& piece) {
  if (piece.cut == nullptr) return file.expect_unchanged();
  file.expect_only_grown();
  if (!file.grew()) return;
  // The last piece has been read by now, since all have.
  bool const may_be_cut = file.ends_without_delimiter.load(std::memory_order_relaxed);
  std::scoped_lock const lock(mutex_);
  if (first_grown_.empty()) {
    first_grown_ =
        *piece.name + " grew while it was read: it was read up to " +
        (may_be_cut ? "the end that it had then, and its last record, which had no end, may have been a part of one."
                    : "the last whole record that it had then.");
  } else {
    ++others_grown_;
  }
}

/// Reads a piece of a file whose records lead from one to the next.
std::size_t PieceReader::read_chained(OpenFile& file, FilePiece& piece, std::span<std::byte> tile) {
  auto const from_file = [&](std::uint64_t offset, std::span<std::byte> to) {
    return to.data() == tile.data() ? readers_.read(file, offset, to) : file.read_at(offset, to);
  };
  // A reference takes no memory: a piece that is not read would block those behind it.
  auto got = piece.chain->read(std::cref(from_file), piece.number, tile);
  piece.place.offset = got.offset;
  piece.records = std::move(got.records);
  // A record that a writer has begun is not lost.
  bool const goes_on = got.unfinished_bytes != 0 && file.grew();
  if (goes_on) got.loss.unfinished = 0;
  piece.unfinished_bytes = goes_on ? 0 : got.unfinished_bytes;
  note_loss(got.loss);
  return got.bytes;
}

}  // namespace penstock
