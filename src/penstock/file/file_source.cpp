// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "penstock/core/number_text.hpp"
#include "penstock/core/of_tiles.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/file/file_piece.hpp"
#include "penstock/file/file_reader.hpp"
#include "penstock/file/followed_files.hpp"
#include "penstock/file/open_file.hpp"
#include "penstock/file/stream_tiles.hpp"
#include "penstock/files.hpp"

namespace penstock {
namespace {

FileSource::NextFile one_by_one(std::vector<std::string> paths) {
  return [paths = std::move(paths), at = std::size_t{0}]() mutable -> std::optional<InputFile> {
    if (at == paths.size()) return std::nullopt;
    return InputFile{.path = paths[at++]};
  };
}

}  // namespace

/// What a FileSource is made of.
class FileSource::Parts {
 public:
  Parts(NextFile next, Pool const& pool, FileSourceOptions options)
      : readers_(options.reading),
        pieces_(readers_),
        next_file_(std::move(next)),
        tile_bytes_(pool.shape().input_bytes),
        options_(std::move(options)),
        stream_tiles_(options_, tile_bytes_) {
    if (tile_bytes_ == 0) {
      throw Error(ErrorKind::bad_argument,
                  "Files are read into the tiles' input, and these have none: give them some.");
    }
    if (options_.follow) followed_.emplace(next_file_, options_, tile_bytes_);
    serve(pool);
  }

  /// As FileSource.
  void serve(Pool const& pool);
  bool next(Tile& tile);
  std::size_t fill(Tile& tile) { return pieces_.fill(jobs_.of(tile), tile); }
  Place place_of(Tile const& tile) { return jobs_.of(tile).place; }
  RecordLoss loss();
  std::vector<std::string> remarks();

 private:
  bool next_followed(Tile& tile);
  bool open(InputFile const& input, Tile& tile);
  /// How the current file is cut, with a framing; null until its head was read.
  std::shared_ptr<InputCut> const& cut() const { return stream_tiles_.cut(); }
  bool in_pieces(OpenFile const& file) const {
    return file.pieces() && (options_.framing == nullptr || (cut() != nullptr && cut()->pieces()));
  }
  /// From one piece of a regular file to the next.
  std::size_t step() const {
    return cut() != nullptr && cut()->pieces() ? cut()->pieces()->step() : tile_bytes_ - options_.overlap;
  }
  void begin_pieces();
  void give_piece(Tile& tile);
  bool next_of_stream(Tile& tile);
  bool fail_file(FileProblem const& problem, Tile& tile);
  void give(Tile& tile, std::uint64_t offset, std::size_t bytes, std::shared_ptr<OpenFile> to_read);
  void end_file();

  FileReaders readers_;
  PieceReader pieces_;
  NextFile const next_file_;
  std::size_t const tile_bytes_;
  FileSourceOptions const options_;
  StreamTiles stream_tiles_;
  std::optional<FollowedFiles> followed_;
  OfTiles<FilePiece, most_pools> jobs_;

  std::shared_ptr<OpenFile> current_;
  std::shared_ptr<std::string const> name_;
  std::uint64_t file_ = 0;   ///< The current one's number.
  std::uint64_t files_ = 0;  ///< Gone to so far.
  std::uint64_t tiles_ = 0;  ///< Of the current one, given out so far.
  std::uint64_t bytes_ = 0;  ///< Of the current one, before the next tile's own.
};

FileSource::FileSource(NextFile next_file, Pool const& pool, FileSourceOptions options)
    : parts_(std::make_unique<Parts>(std::move(next_file), pool, std::move(options))) {}

FileSource::FileSource(std::vector<std::string> const& paths, Pool const& pool, FileSourceOptions options)
    : FileSource(one_by_one(paths), pool, std::move(options)) {}

FileSource::~FileSource() = default;

void FileSource::serve(Pool const& pool) {
  parts_->serve(pool);
}

bool FileSource::next(Tile& tile) {
  return parts_->next(tile);
}

std::size_t FileSource::fill(Tile& tile) {
  return parts_->fill(tile);
}

std::vector<std::string> FileSource::remarks() const {
  return parts_->remarks();
}

RecordLoss FileSource::loss() const {
  return parts_->loss();
}

FileSource::Place FileSource::place_of(Tile const& tile) const {
  return parts_->place_of(tile);
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
    if (current_ == nullptr) {
      auto const input = next_file_();
      if (!input) return false;
      if (open(*input, tile)) return true;
      continue;
    }
    if (!in_pieces(*current_)) {
      if (next_of_stream(tile)) return true;
      continue;
    }
    give_piece(tile);
    return true;
  }
  if (current_ != nullptr) {
    if (!current_->regular()) stream_tiles_.break_off();
    current_ = nullptr;
    if (options_.observer != nullptr) options_.observer->abandoned(file_, tiles_);
  }
  return false;
}

/// Makes this file the current one; or else tells why not. True if it does so by the tile.
bool FileSource::Parts::open(InputFile const& input, Tile& tile) {
  file_ = files_++;
  tiles_ = bytes_ = 0;
  name_ = std::make_shared<std::string const>(input.path);
  if (options_.observer != nullptr) options_.observer->opened(file_, input);
  try {
    if (input.problem) throw *input.problem;
    current_ = OpenFile::of(input);
    stream_tiles_.restart();
    begin_pieces();
    return false;
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
}

/// If the current file is regular and can be read by pieces, counts them.
void FileSource::Parts::begin_pieces() {
  if (options_.framing != nullptr && cut() == nullptr && current_->pieces()) {
    std::size_t const head = options_.framing->head_bytes();
    std::vector<std::byte> first(static_cast<std::size_t>(std::min<std::uint64_t>(head, current_->size())));
    first.resize(current_->read_at(0, first));
    stream_tiles_.cut_by_head(first);
  }
  if (!in_pieces(*current_)) return;
  bytes_ = cut() != nullptr ? cut()->head() : 0;
  std::uint64_t const size = current_->size() - bytes_, again = std::min<std::uint64_t>(size, options_.overlap);
  std::uint64_t const pieces = std::max<std::uint64_t>(1, (size - again + step() - 1) / step());
  current_->pieces_left = pieces;
  if (cut() != nullptr) cut()->expect_pieces(pieces);
}

void FileSource::Parts::give_piece(Tile& tile) {
  std::uint64_t const rest = current_->size() - bytes_, piece = step() + options_.overlap;
  give(tile, bytes_, static_cast<std::size_t>(std::min(piece, rest)), current_);
  bytes_ += step();
  if (rest <= piece) end_file();
}

/// Reads the next tile of a stream; false if the stream was at its end, or stopped, and gave none.
bool FileSource::Parts::next_of_stream(Tile& tile) {
  StreamTiles::Next got;
  try {
    got = stream_tiles_.next(*current_, tile.input().first(tile_bytes_));
    if (got.ended) current_->expect_unchanged();
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
  // An empty stream is one empty tile; one that ends behind a tile that has left has no tile after it.
  bool const gives = got.more > 0 || (got.ended && tiles_ == 0);
  if (gives) give(tile, got.offset, got.bytes, nullptr);
  bytes_ += got.more;
  if (got.ended) end_file();
  return gives;
}

/// Tells what is wrong with the current file, and ends it: true if by this tile, false if the observer knows.
bool FileSource::Parts::fail_file(FileProblem const& problem, Tile& tile) {
  bool const by_tile = options_.observer == nullptr;
  if (by_tile) {
    give(tile, bytes_, 0, nullptr);
    jobs_.of(tile).problem = problem;
  } else {
    options_.observer->failed(file_, problem);
  }
  end_file();
  return by_tile;
}

void FileSource::Parts::give(Tile& tile, std::uint64_t offset, std::size_t bytes, std::shared_ptr<OpenFile> to_read) {
  tile.tag = file_;
  tile.filled = bytes;
  jobs_.of(tile) = {{file_, offset, 0}, std::move(to_read), std::nullopt, name_, cut(), bytes, tiles_};
  ++tiles_;
}

void FileSource::Parts::end_file() {
  current_ = nullptr;
  if (options_.observer != nullptr) options_.observer->ended(file_, tiles_);
}

bool FileSource::Parts::next_followed(Tile& tile) {
  auto got = followed_->next(tile.input().first(tile_bytes_));
  if (!got) return false;
  auto& [piece, name, problem] = *got;
  tile.tag = piece.place.file;
  tile.filled = piece.bytes;
  jobs_.of(tile) = {piece.place, nullptr, std::move(problem), std::move(name), std::move(piece.cut), piece.bytes, 0};
  return true;
}

std::vector<std::string> FileSource::Parts::remarks() {
  std::vector<std::string> all = followed_ ? followed_->remarks() : std::vector<std::string>();
  for (std::string const& text : {readers_.describe(), describe(loss())}) {
    if (!text.empty()) all.push_back(text);
  }
  return all;
}

RecordLoss FileSource::Parts::loss() {
  RecordLoss all = pieces_.loss();
  if (followed_) all += followed_->loss();
  all += stream_tiles_.loss();
  return all;
}

}  // namespace penstock
