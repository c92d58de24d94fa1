// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/file_source_parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/core/number_text.hpp"

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
      // A pipe may be silent for long: what others have to decode goes first.
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
  // What was read of a pipe leaves.
  while (stream_ != nullptr && stream_->holds()) {
    if (next_of_stream(tile)) return true;
  }
  if (options_.stop.stop_requested()) abandon();
  return false;
}

bool FileSource::Parts::next_of_current(Tile& tile) {
  if (!in_pieces_) return next_of_stream(tile);
  try {
    give_piece(tile);
    return true;
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
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
  current_ = nullptr;
  stream_ = nullptr;
  observed_.tell([&](FileObserver& observer) { observer.abandoned(file_, tiles_); });
}

/// Makes this file the current one; or else tells why not. True if it does so by the tile.
bool FileSource::Parts::open(InputFile const& input, Tile& tile) {
  file_ = files_++;
  tiles_ = bytes_ = 0;
  in_pieces_ = false;
  framed_.reset();
  chained_.reset();
  name_ = std::make_shared<std::string const>(input.path);
  observed_.tell([&](FileObserver& observer) { observer.opened(file_, input); });
  try {
    if (input.problem) throw *input.problem;
    current_ = OpenFile::of(input);
    stream_ = current_;
    if (options_.decompress) begin_decoding();
    if (current_ == nullptr) return false;
    stream_tiles_.restart();
    begin_pieces();
    return false;
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
}

/// If the current file is compressed, it is decoded beside those that follow; of a stream its first bytes will say
/// that.
void FileSource::Parts::begin_decoding() {
  if (!current_->pieces()) {
    stream_ = std::make_shared<DecodedStream>(current_);
    return;
  }
  std::array<std::byte, input_magic_bytes> first{};
  std::size_t const got = current_->read_at(0, first);
  auto const compression = compression_of(std::span(first).first(got), true);
  if (compression == Compression::none) return;
  if (std::string const why = why_not_decoded(*compression); !why.empty()) throw FileProblem(why);
  stream_ = nullptr;
  decoded_.add(std::exchange(current_, nullptr), *compression, file_, name_);
}

/// Finds out how the current file is cut into pieces, if it is regular and can be.
void FileSource::Parts::begin_pieces() {
  if (!current_->pieces()) return;
  current_->pieces_left = 1;  // Until all have been given.
  in_pieces_ = options_.framing == nullptr;
  if (in_pieces_) return;
  if (stream_tiles_.cut().framing == nullptr) {
    std::size_t const head = options_.framing->head_bytes();
    std::vector<std::byte> first(static_cast<std::size_t>(std::min<std::uint64_t>(head, current_->size())));
    first.resize(current_->read_at(0, first));
    stream_tiles_.cut_by_head(first);
  }
  auto const& cut = stream_tiles_.cut();
  bytes_ = cut.head;
  if (FramedPieces::suit(*cut.framing)) {
    framed_.emplace(cut.framing, tile_bytes_, options_.long_records, options_.overlap);
  } else if (cut.framing->finds_records()) {
    chained_ = ChainedFile{current_,
                           std::make_shared<ChainedPieces>(cut, tile_bytes_, current_->size(), options_.long_records,
                                                           has_places_),
                           name_, file_};
  }
  in_pieces_ = framed_ || chained_;
}

void FileSource::Parts::give_piece(Tile& tile) {
  if (chained_) {
    give(tile, chained_->give());
    ++tiles_;
    if (!chained_->gave_all()) return;
    chain_ends_.add(*std::exchange(chained_, std::nullopt));
    current_ = nullptr;
    stream_ = nullptr;
    return;
  }
  FramedPieces::Piece const piece = cut_piece();
  FilePiece& given = give(tile, piece.offset, piece.bytes, current_);
  pieces_.note_loss(piece.loss);
  given.unfinished_bytes = piece.unfinished_bytes;
  bytes_ = piece.next;
  if (bytes_ < current_->size()) return;
  current_->pieces_left.fetch_sub(1, std::memory_order_relaxed);
  end_file();
}

/// The next piece of a file that is cut from its beginning to its end.
FramedPieces::Piece FileSource::Parts::cut_piece() {
  std::uint64_t const size = current_->size();
  if (framed_) {
    auto const look = [&](std::uint64_t offset, std::span<std::byte> to) { return current_->look_at(offset, to); };
    return framed_->piece(look, bytes_, size, options_.stop);
  }
  std::uint64_t const rest = size - bytes_;
  if (rest <= tile_bytes_) return {bytes_, static_cast<std::size_t>(rest), size};
  return {bytes_, tile_bytes_, bytes_ + tile_bytes_ - options_.overlap};
}

/// Goes on with a file of which all pieces that were given have been read: true, if by this tile.
bool FileSource::Parts::next_of_ends(Tile& tile) {
  auto piece = chain_ends_.next();
  if (piece) give(tile, std::move(*piece));
  return piece.has_value();
}

/// Reads the next tile of a stream; false if the stream was at its end, or stopped, and gave none.
bool FileSource::Parts::next_of_stream(Tile& tile) {
  StreamTiles::Next got;
  try {
    got = stream_tiles_.next(*stream_, tile.input().first(tile_bytes_));
    if (got.ended) current_->expect_unchanged();
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
  // An empty stream is one empty tile; one that ends behind a tile that has left has no tile after it.
  bool const gives = got.more > 0 || (got.ended && tiles_ == 0);
  if (gives) give(tile, got.offset, got.bytes).records = std::move(got.records);
  pieces_.note_end(*name_, got.unfinished_bytes);
  bytes_ += got.more;
  if (got.ended) end_file();
  return gives;
}

/// Tells what is wrong with the current file, and ends it: true if by this tile, false if the observer knows.
bool FileSource::Parts::fail_file(FileProblem const& problem, Tile& tile) {
  bool const by_tile = !observed_.any();
  if (by_tile) {
    give(tile, bytes_, 0).problem = problem;
  }
  observed_.tell([&](FileObserver& observer) { observer.failed(file_, problem); });
  end_file();
  return by_tile;
}

/// A tile of the current file.
FilePiece& FileSource::Parts::give(Tile& tile, std::uint64_t offset, std::size_t bytes,
                                   std::shared_ptr<OpenFile> to_read) {
  if (to_read != nullptr) to_read->pieces_left.fetch_add(1, std::memory_order_relaxed);
  ++tiles_;
  FilePiece& piece =
      give(tile, {.place = {file_, offset}, .file = std::move(to_read), .name = name_, .bytes = bytes});
  if (framed_) piece.records.framing = stream_tiles_.cut().framing;
  return piece;
}

FilePiece& FileSource::Parts::give(Tile& tile, FilePiece piece) {
  tile.tag = piece.place.file;
  tile.filled = piece.bytes;
  return jobs_.of(tile) = std::move(piece);
}

void FileSource::Parts::end_file() {
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
              .bytes = piece.bytes,
              .records = std::move(piece.records)});
  return true;
}

std::vector<std::string> FileSource::Parts::remarks() {
  std::vector<std::string> all = followed_ ? followed_->remarks() : std::vector<std::string>();
  for (std::string const& text : {readers_.describe(), decoded_.describe(), describe(loss()), pieces_.describe()}) {
    if (!text.empty()) all.push_back(text);
  }
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
