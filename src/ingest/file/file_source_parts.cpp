// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/file_source_parts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "engine/core/number_text.hpp"
#include "ingest/decoding/members.hpp"
#include "ingest/file/text_head.hpp"

namespace penstock {

FileSource::Parts::Parts(NextFile next, Pool const& pool, FileSourceOptions options)
    : readers_(options.reading),
      pieces_(readers_),
      next_file_(std::move(next)),
      tile_bytes_(pool.shape().input_bytes),
      has_places_(pool.shape().more_input_bytes[0] != 0),
      options_(std::move(options)),
      observed_(options_.observer),
      stream_tiles_(options_, tile_bytes_, has_places_),
      decoded_(options_, observed_, tile_bytes_, has_places_),
      chain_ends_(observed_) {
  if (tile_bytes_ == 0) {
    throw Error(ErrorKind::bad_argument, "Files are read into the tiles' input, and these have none: give them some.");
  }
  if (options_.follow) followed_.emplace(next_file_, options_, tile_bytes_);
  serve(pool);
}

void FileSource::Parts::serve(Pool const& pool) {
  if (pool.shape().input_bytes != tile_bytes_) {
    throw Error(ErrorKind::bad_argument, "A source that cuts files into pieces of " + size_text(tile_bytes_) +
                                             " cannot fill tiles of " + size_text(pool.shape().input_bytes) +
                                             ": give all its pools the same.");
  }
  jobs_.add(pool);
}

bool FileSource::Parts::next(Tile& tile) {
  if (followed_) return next_followed(tile);
  while (!options_.stop.stop_requested()) {
    if (next_decoded(tile) || next_of_ends(tile)) return true;
    if (current_ != nullptr) {
      // A pipe may be silent for long: files that are decoded go first.
      if (!current_->pieces() && decoded_.wait()) continue;
      if (next_of_current(tile)) return true;
    } else if (!opened_all_) {
      auto const input = next_file_();
      opened_all_ = !input;
      if (input && open(*input, tile)) return true;
    } else if (!chain_ends_.empty()) {
      chain_ends_.wait();
    } else if (!decoded_.wait()) {
      break;
    }
  }
  // The bytes already read from a pipe leave.
  while (stream_ != nullptr && stream_->holds()) {
    if (next_of_stream(tile)) return true;
  }
  if (options_.stop.stop_requested()) abandon();
  return false;
}

bool FileSource::Parts::next_of_current(Tile& tile) {
  return in_pieces_ ? give_piece(tile) : next_of_stream(tile);
}

/// Gives the tile to a file that is decoded, if there is one that no other tile has.
bool FileSource::Parts::next_decoded(Tile& tile) {
  auto file = decoded_.take();
  if (file == nullptr) return false;
  give(tile, {.place = {file->number}, .name = file->name, .decoded = file});
  return true;
}

std::size_t FileSource::Parts::fill(Tile& tile) {
  FilePiece& piece = jobs_.of(tile);
  if (auto const file = std::exchange(piece.decoded, nullptr)) {
    try {
      auto filled = decoded_.fill(file, tile.input());
      tile.filled = filled.bytes;
      piece.place.offset = filled.offset;
      piece.cut = std::move(filled.cut);
      piece.records = std::move(filled.records);
      piece.unfinished_bytes = filled.unfinished_bytes;
    } catch (FileProblem const& problem) {
      piece.place.offset = file->given;
      piece.problem = problem;
    }
  }
  return pieces_.fill(piece, tile);
}

void FileSource::Parts::abandon() {
  decoded_.abandon();
  chain_ends_.abandon();
  if (current_ == nullptr) return;
  if (!current_->regular()) stream_tiles_.break_off();
  in_pieces_.reset();
  current_ = nullptr;
  stream_ = nullptr;
  observed_.tell([&](FileObserver& observer) { observer.abandoned(file_, tiles_); });
}

/// Makes this file the current one, or reports the reason. True if the report is by the tile.
bool FileSource::Parts::open(InputFile const& input, Tile& tile) {
  file_ = files_++;
  tiles_ = bytes_ = 0;
  in_pieces_.reset();
  name_ = std::make_shared<std::string const>(input.path);
  observed_.tell([&](FileObserver& observer) { observer.opened(file_, input); });
  try {
    if (input.problem) throw *input.problem;
    current_ = OpenFile::of(input);
    stream_ = current_;
    if (options_.decompress) begin_decoding(input.range.has_value());
    if (current_ == nullptr) return false;
    stream_tiles_.restart();
    begin_pieces(input.range);
    if (input.range && !in_pieces_)
      throw FileProblem("a part of it cannot be read, since it is no regular file; read all of it");
    return false;
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
}

/// Begins to decode the current file in parallel to those that follow, if it is compressed; for a stream its first
/// bytes will tell.
void FileSource::Parts::begin_decoding(bool in_part) {
  if (!current_->pieces()) {
    stream_ = std::make_shared<DecodedStream>(current_);
    return;
  }
  std::array<std::byte, input_magic_bytes> first{};
  std::size_t const got = current_->read_at(0, first);
  auto compression = compression_of(std::span(first).first(got), true);
  if (compression == Compression::none) return;
  if (compression == Compression::skippable) {
    compression = compression_behind_skippable(
        [this](std::uint64_t offset, std::span<std::byte> to) { return current_->read_at(offset, to); });
  }
  if (std::string const why = why_not_decoded(*compression); !why.empty()) throw FileProblem(why);
  if (in_part) throw FileProblem("a part of it cannot be read, since it is compressed; read all of it");
  stream_ = nullptr;
  decoded_.add(std::exchange(current_, nullptr), *compression, file_, name_);
}

/// Determines the pieces of the current file, or of a range of it, if it is regular and can be cut.
void FileSource::Parts::begin_pieces(std::optional<FileRange> const& range) {
  if (!current_->pieces()) return;
  if (options_.framing != nullptr && cut() == nullptr) {
    std::size_t const head = stream_tiles_.head_bytes();
    std::vector<std::byte> first(static_cast<std::size_t>(std::min<std::uint64_t>(head, current_->size())));
    first.resize(current_->read_at(0, first));
    if (options_.text) add_first_end(*current_, first);
    stream_tiles_.cut_by_head(first);
  }
  if (!FilePieces::suit(cut().get())) return;
  in_pieces_.emplace(ChainedFile{.file = current_, .cut = cut(), .name = name_, .number = file_}, options_, tile_bytes_,
                     has_places_, range);
}

/// Gives the tile the next data of the current file. False if it cannot be read, and the observer was notified.
bool FileSource::Parts::give_piece(Tile& tile) {
  try {
    auto next = in_pieces_->next();
    pieces_.note_loss(next.loss);
    give(tile, std::move(next.piece));
    ++tiles_;
    if (!next.last) return true;
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  } catch (Error const& error) {
    return fail_file(FileProblem(error.what()), tile);
  }
  // More data, or damage, may be noticed once they are read.
  if (auto file = in_pieces_->chained()) {
    chain_ends_.add(std::move(*file));
    in_pieces_.reset();
    current_ = nullptr;
    stream_ = nullptr;
  } else {
    end_file();
  }
  return true;
}

/// Continues a file whose given pieces have all been read: true if it gives this tile data.
bool FileSource::Parts::next_of_ends(Tile& tile) {
  auto piece = chain_ends_.next();
  if (piece) give(tile, std::move(*piece));
  return piece.has_value();
}

/// Reads the next tile of a stream; false if the stream had ended or was stopped, and gave no tile.
bool FileSource::Parts::next_of_stream(Tile& tile) {
  StreamTiles::Next got;
  try {
    got = stream_tiles_.next(*stream_, tile.input().first(tile_bytes_));
    if (got.ended) expect_unchanged(*current_, options_);
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
  // An empty stream is one empty tile; a stream that ends behind a tile that has left has no further tile.
  bool const gives = got.more > 0 || (got.ended && tiles_ == 0);
  if (gives) {
    give(tile, {.place = {file_, got.offset},
                .name = name_,
                .cut = cut(),
                .bytes = got.bytes,
                .records = std::move(got.records)});
    ++tiles_;
  }
  pieces_.note_end(*name_, got.unfinished_bytes);
  bytes_ += got.more;
  if (got.ended) end_file();
  return gives;
}

/// Reports the problem of the current file, and ends the file: true if by this tile, false if the observer was
/// notified.
bool FileSource::Parts::fail_file(FileProblem const& problem, Tile& tile) {
  bool const by_tile = !observed_.any();
  if (by_tile) {
    std::uint64_t const offset = in_pieces_ ? in_pieces_->offset() : bytes_;
    give(tile, {.place = {file_, offset}, .problem = problem, .name = name_});
    ++tiles_;
  }
  observed_.tell([&](FileObserver& observer) { observer.failed(file_, problem); });
  end_file();
  return by_tile;
}

void FileSource::Parts::give(Tile& tile, FilePiece piece) {
  tile.tag = piece.place.file;
  tile.filled = piece.bytes;
  jobs_.of(tile) = std::move(piece);
}

void FileSource::Parts::end_file() {
  in_pieces_.reset();  // It refers to the file, too.
  current_ = nullptr;
  stream_ = nullptr;
  observed_.tell([&](FileObserver& observer) { observer.ended(file_, tiles_); });
}

bool FileSource::Parts::next_followed(Tile& tile) {
  auto got = followed_->next(tile.input().first(tile_bytes_));
  if (!got) return false;
  auto& [piece, name, problem] = *got;
  give(tile, {.place = piece.place,
              .problem = std::move(problem),
              .name = std::move(name),
              .cut = std::move(piece.cut),
              .bytes = piece.bytes,
              .records = std::move(piece.records)});
  return true;
}

std::vector<std::string> FileSource::Parts::remarks() {
  std::vector<std::string> all = followed_ ? followed_->remarks() : std::vector<std::string>();
  for (std::string const& text : {readers_.describe(), decoded_.describe()}) {
    if (!text.empty()) all.push_back(text);
  }
  std::ranges::move(pieces_.remarks(), std::back_inserter(all));
  return all;
}

std::vector<LeftOut> FileSource::Parts::left_out() {
  RecordLoss lost = loss();
  if (followed_) lost.unfinished -= followed_->cut_records();  // They have a reason of their own.
  std::vector<LeftOut> all = left_out_of(lost, options_.stop.stop_requested());
  if (followed_) add_left_out(all, followed_->left_out());
  return all;
}

RecordLoss FileSource::Parts::loss() {
  RecordLoss all = pieces_.loss();
  if (followed_) all += followed_->loss();
  all += stream_tiles_.loss();
  all += decoded_.loss();
  return all;
}

}  // namespace penstock
