// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "ingest/file/decoded_ahead.hpp"
#include "ingest/file/input_cut.hpp"
#include "ingest/file/observed.hpp"
#include "ingest/file/open_file.hpp"
#include "ingest/file/stream_tiles.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

/// A compressed file that is being decoded.
struct DecodedFile {
  DecodedFile(std::shared_ptr<OpenFile> opened, Compression compression, std::uint64_t file,
              std::shared_ptr<std::string const> path, FileSourceOptions const& options, std::size_t tile_bytes,
              bool places);

  std::shared_ptr<OpenFile> const source;
  std::uint64_t const number;
  std::shared_ptr<std::string const> const name;
  DecodedAhead bytes;
  StreamTiles cut_into;
  std::uint64_t tiles = 0;  ///< Tiles given out so far.
  std::uint64_t given = 0;  ///< Bytes in these tiles.
  bool taken = false;       ///< A thread has it.
};

/// Files that are decoded: each by the thread that has taken it, several at once.
///
/// Threads: any.
class DecodedFiles {
 public:
  /// `options` and `observed` must outlive this. `places` is that of StreamTiles.
  DecodedFiles(FileSourceOptions const& options, Observed& observed, std::size_t tile_bytes, bool places)
      : options_(options), observed_(observed), tile_bytes_(tile_bytes), wants_places_(places) {}

  /// Adds a file behind the others.
  void add(std::shared_ptr<OpenFile> opened, Compression compression, std::uint64_t number,
           std::shared_ptr<std::string const> name);
  /// Takes the first file that no thread has, for a tile of it; it is this thread's until `fill`. Null if there is
  /// none.
  ///
  /// Throws: an exception of the observer from a `fill`, once, as do `wait` and `abandon`.
  std::shared_ptr<DecodedFile> take();
  /// Returns false if all files have ended, or a stop is requested.
  ///
  /// Blocks: until there is a file to take, or it returns false.
  bool wait();
  /// Stops reading all files, because a stop was requested.
  void abandon();

  struct Filled {
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
    std::shared_ptr<InputCut> cut;
    std::size_t unfinished_bytes = 0;  ///< Has the meaning of the member in StreamTiles::Next, as has `records`.
    TileRecords records = {};
  };
  /// Fills the tile with the next data of a file that this thread took, and then helps to decode it.
  ///
  /// Throws: FileProblem without the file's name, if there is no observer to notify; the file has ended then.
  Filled fill(std::shared_ptr<DecodedFile> const& file, std::span<std::byte> tile);

  /// Losses of all files so far.
  RecordLoss loss() const;
  /// A sentence with the numbers of files that have ended and of those that one thread had to decode; empty if there
  /// were none.
  std::string describe() const;

 private:
  enum class Left { goes_on, ended, failed };
  Filled read(DecodedFile& file, std::span<std::byte> tile, Left& left) const;
  void leave(DecodedFile& file, Left left);
  template <class News>
  void tell(News news);
  void rethrow();
  void count(DecodedFile const& file);

  FileSourceOptions const& options_;
  Observed& observed_;
  std::size_t const tile_bytes_;
  bool const wants_places_;
  mutable std::mutex mutex_;
  std::condition_variable_any left_;
  std::vector<std::shared_ptr<DecodedFile>> files_;  ///< Files that have not ended.
  RecordLoss loss_;                                  ///< Losses of files that have ended.
  std::uint64_t ended_ = 0, by_one_ = 0;
  std::exception_ptr thrown_;  ///< Exception of the observer, thrown while no thread was in `next`.
};

}  // namespace penstock
