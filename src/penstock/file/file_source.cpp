// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "penstock/core/number_text.hpp"
#include "penstock/core/of_tiles.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/file/file_piece.hpp"
#include "penstock/file/file_reader.hpp"
#include "penstock/file/input_cut.hpp"
#include "penstock/file/open_file.hpp"
#include "penstock/files.hpp"
#include "penstock/framing/stream_cutter.hpp"

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
      : readers(options.reading),
        pieces_(readers),
        next_file_(std::move(next)),
        tile_bytes_(pool.shape().input_bytes),
        options_(std::move(options)) {
    if (tile_bytes_ == 0) {
      throw Error(ErrorKind::bad_argument,
                  "Files are read into the tiles' input, and these have none: give them some.");
    }
    if (options_.framing != nullptr && options_.framing->head_bytes() == 0) cut_by({options_.framing, 0});
    serve(pool);
  }

  /// As FileSource.
  void serve(Pool const& pool);
  bool next(Tile& tile);
  std::size_t fill(Tile& tile) { return pieces_.fill(jobs_.of(tile), tile); }
  Place place_of(Tile const& tile) { return jobs_.of(tile).place; }
  RecordLoss loss();

  FileReaders readers;

 private:
  bool open(InputFile const& input, Tile& tile);
  void begin_records();
  bool in_pieces(OpenFile const& file) const {
    return file.pieces() && (options_.framing == nullptr || (cut_ != nullptr && cut_->pieces()));
  }
  /// From one piece of a regular file to the next.
  std::size_t step() const { return cut_ != nullptr && cut_->pieces() ? cut_->pieces()->step() : tile_bytes_; }
  void cut_by(Framing::OfInput of);
  std::size_t cut_by_head(std::span<std::byte> first, std::size_t bytes);
  bool next_of_stream(Tile& tile);
  OpenFile::Gathered gather(Tile& tile);
  std::size_t gather_head(std::span<std::byte> room);
  bool fail_file(FileProblem const& problem, Tile& tile);
  void give(Tile& tile, std::uint64_t offset, std::size_t bytes, std::shared_ptr<OpenFile> to_read);
  void end_file();

  PieceReader pieces_;
  NextFile const next_file_;
  std::size_t const tile_bytes_;
  FileSourceOptions const options_;
  RecordLoss loss_of_streams_;  ///< But for those of the cutter.
  OfTiles<FilePiece, most_pools> jobs_;

  std::shared_ptr<OpenFile> current_;
  std::shared_ptr<std::string const> name_;
  std::uint64_t file_ = 0;              ///< The current one's number.
  std::uint64_t files_ = 0;             ///< Gone to so far.
  std::uint64_t tiles_ = 0;             ///< Of the current one, given out so far.
  std::uint64_t bytes_ = 0;             ///< Of those.
  std::shared_ptr<InputCut> cut_;       ///< With a framing: of the current one; null until its head was read.
  std::optional<StreamCutter> cutter_;  ///< Likewise: of streams.
  bool stream_ended_ = false;           ///< What it holds is all that is left of the current one.
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
  std::vector<std::string> all;
  for (std::string const& text : {parts_->readers.describe(), describe(loss())}) {
    if (!text.empty()) all.push_back(text);
  }
  return all;
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
    give(tile, bytes_, static_cast<std::size_t>(std::min<std::uint64_t>(step(), current_->size() - bytes_)), current_);
    if (bytes_ >= current_->size()) end_file();
    return true;
  }
  if (current_ != nullptr) {
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
    stream_ended_ = false;
    begin_records();
    if (in_pieces(*current_)) {
      bytes_ = cut_ != nullptr ? cut_->head() : 0;
      std::uint64_t const pieces = std::max<std::uint64_t>(1, (current_->size() - bytes_ + step() - 1) / step());
      current_->pieces_left = pieces;
      if (cut_ != nullptr) cut_->expect_pieces(pieces);
    }
    return false;
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
}

/// Makes ready to cut the current file, as far as that is known.
void FileSource::Parts::begin_records() {
  if (options_.framing == nullptr) return;
  std::size_t const head = options_.framing->head_bytes();
  if (head == 0) return options_.framing->finds_records() ? cut_by({options_.framing, 0}) : cutter_->restart();
  cut_ = nullptr;
  if (!current_->pieces()) return;
  std::vector<std::byte> first(static_cast<std::size_t>(std::min<std::uint64_t>(head, current_->size())));
  first.resize(current_->read_at(0, first));
  cut_by_head(first, first.size());
}

/// From now on files are cut so.
void FileSource::Parts::cut_by(Framing::OfInput of) {
  cut_ = std::make_shared<InputCut>(of, options_, tile_bytes_);
  if (cutter_) loss_of_streams_ += cutter_->loss();
  cutter_.emplace(of.framing, options_.long_records);
  cutter_->restart(of.head);
}

/// The current file is cut as its first bytes say. Says how many of them are in front of its records.
std::size_t FileSource::Parts::cut_by_head(std::span<std::byte> first, std::size_t bytes) {
  try {
    cut_by(options_.framing->of_input(first.first(std::min(bytes, options_.framing->head_bytes()))));
    return cut_->head();
  } catch (FileProblem const&) {
    throw;
  } catch (Error const& error) {
    throw FileProblem(error.what());
  }
}

/// Reads the next tile of a stream; false if the stream was at its end and gave none.
bool FileSource::Parts::next_of_stream(Tile& tile) {
  OpenFile::Gathered got;
  try {
    got = gather(tile);
    if (got.ended && !options_.stop.stop_requested()) current_->expect_unchanged();
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
  if (options_.stop.stop_requested()) return false;
  // An empty stream is one empty tile; one that ends behind a tile that has left has no tile after it.
  bool const gives = got.bytes > 0 || tiles_ == 0;
  if (gives) give(tile, cutter_ ? cutter_->offset() : bytes_, got.bytes, nullptr);
  if (got.ended) end_file();
  return gives;
}

/// What a tile gets of a stream: what comes next, or the records that come next.
OpenFile::Gathered FileSource::Parts::gather(Tile& tile) {
  auto const room = tile.input().first(tile_bytes_);
  if (options_.framing == nullptr) return current_->gather(room, options_.linger, options_.stop);
  for (std::size_t held = cut_ == nullptr ? gather_head(room) : cutter_->begin(room);;) {
    OpenFile::Gathered got{0, true};
    if (!stream_ended_) got = current_->gather(room.subspan(held), options_.linger, options_.stop);
    if (options_.stop.stop_requested()) return {0, true};
    stream_ended_ = got.ended;
    try {
      auto const cut = cutter_->cut(room, held + got.bytes, got.ended);
      if (cut.ready) return {cut.bytes, got.ended && !cutter_->holds_rest()};
      held = cut.bytes;
    } catch (Error const& error) {
      throw FileProblem(error.what());
    }
  }
}

/// Reads the head of a stream, and how it is cut. Says how many bytes of records came with it.
std::size_t FileSource::Parts::gather_head(std::span<std::byte> room) {
  std::size_t const head = std::min(options_.framing->head_bytes(), room.size());
  std::size_t held = 0;
  while (held < head && !stream_ended_) {
    auto const got = current_->gather(room.subspan(held), options_.linger, options_.stop);
    held += got.bytes;
    stream_ended_ = got.ended;
  }
  if (options_.stop.stop_requested()) return 0;
  std::size_t const gone = cut_by_head(room, held);
  std::memmove(room.data(), room.data() + gone, held - gone);
  return held - gone;
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
  jobs_.of(tile) = {{file_, offset}, std::move(to_read), std::nullopt, name_, cut_, bytes, tiles_};
  ++tiles_;
  bytes_ += bytes;
}

void FileSource::Parts::end_file() {
  current_ = nullptr;
  if (options_.observer != nullptr) options_.observer->ended(file_, tiles_);
}

RecordLoss FileSource::Parts::loss() {
  RecordLoss all = pieces_.loss();
  all += loss_of_streams_;
  if (cutter_) all += cutter_->loss();
  return all;
}

}  // namespace penstock
