// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "engine/core/pool.hpp"
#include "penstock/options.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/progress.hpp"
#include "programs/hash/check_list.hpp"
#include "programs/hash/file_walk.hpp"
#include "programs/hash/hash_book.hpp"
#include "programs/hash/hash_output.hpp"
#include "programs/hash/hash_source.hpp"
#include "programs/hash/ledger_hash.hpp"

namespace penstock::cli {

/// Makes tiles smaller and fewer if these paths cannot fill what `options` asks for, so that a small file is hashed in
/// little memory. Leaves the options alone if there is a directory among the paths, or there are many. Standard input
/// counts as a file if it is one, or a pipe that has been written to its end. An open pipe, a terminal or a device may
/// end with the next byte: it gets tiles of at most 64 MiB, and four of these; but if `options` has a number of tiles,
/// that number.
///
/// The result is only a hint: a file that grows is hashed all the same, in more tiles.
///
/// Shape: options.tile.input_bytes is a power of two, and stays one.
/// Blocks: for a tenth of a second at most, if the tiles take more than 256 MiB, for the end of such a pipe.
void fit_tiles(PipelineOptions& options, std::vector<std::string> const& paths, int standard_input = STDIN_FILENO);

/// The files that are written beside the lines of standard output; null for one that is not.
struct HashFiles {
  OutputFile* trace = nullptr;
  OutputFile* page = nullptr;
};

/// Task of `penstock hash`, whatever part of it does the work.
struct HashRequest {
  std::vector<std::string> paths = {};  ///< Files and folders; lists of sums with `check`.
  bool check = false;
  HashFormat format = HashFormat::sums;
  bool draw_progress = false;
  HashFiles files = {};  ///< They are no input.
  std::size_t tile_bytes = 0;
  bool groups = false;      ///< Small files share a tile (HashSource).
  std::string ledger = {};  ///< The ledger from which files come on lease; empty: there is none.
  Shard shard = {};         ///< The part of the files that is hashed.
  LedgerRole role = LedgerRole::alone;
};

/// The files that are wanted, the book of their tiles, and their output.
///
/// Threads: one, except `all_taken`, any; objects that the other functions return keep their own rule.
class HashJob {
 public:
  /// `interrupted` ends the input, and so does an output that takes no more. With a ledger the job takes its files from
  /// there, and prints none before `finish_ledger`.
  ///
  /// Throws: as LedgerHash.
  HashJob(HashRequest request, StandardOutput& output, std::stop_token const& interrupted);
  HashJob(HashJob const&) = delete;
  HashJob& operator=(HashJob const&) = delete;

  /// The input, which from now on also serves tiles of `pool`. The pool outlives the job.
  HashSource& source_for(Pool const& pool);
  /// Counts of the files that shared a tile.
  HashSource::Grouped grouped() const noexcept { return source_ ? source_->grouped() : HashSource::Grouped{}; }
  HashBook& book() noexcept { return book_; }
  Progress& progress() noexcept { return progress_; }
  HashOutput& output() noexcept { return output_; }
  /// The ledger of a supervisor.
  Ledger& ledger() { return ledger_->ledger(); }
  /// A tile came home.
  void moved() noexcept {
    if (ledger_) ledger_->moved();
  }
  /// Settles what came from the ledger. Prints all files of it, if each has a result, and otherwise a message.
  ///
  /// Throws: as LedgerHash::finish.
  void finish_ledger();
  /// Throws: Error of kind system, if this process could not hash a file that others may be able to hash.
  void expect_able() const;
  /// True if each file has been hashed and matches, as far as is known.
  bool all_well() const noexcept { return !unfinished_ && output_.all_well(); }
  /// True if files have no line, though there is a place to print it. What a ledger lacks, `finish_ledger` says.
  bool cut_short() const {
    return !ledger_ && output_.takes_more() && (!all_taken() || output_.cut_short() || !book_.empty());
  }
  /// Reports links below directories, on standard error.
  void say_what_was_passed_over();
  /// Ends the input: it also wakes a thread that waits for a stream.
  std::stop_source const& enough() const noexcept { return enough_; }
  /// True once a thread that asks the source has reached the end of the last file; false if it was stopped before that,
  /// or before a file was read to its end.
  bool all_taken() const noexcept { return all_taken_.load() && !(source_ && source_->cut_short()); }
  /// True once this file, one of HashRequest::files, was found among the inputs, and it holds something.
  bool reads(OutputFile const* file) const noexcept {
    return file != nullptr && (file == request_.files.trace ? reads_its_trace_ : reads_its_page_).load();
  }

 private:
  std::optional<WantedFile> next();
  OutputFile const* written_at(std::string const& path) const;
  bool is_passed_over(OutputFile const* file) const noexcept;
  void note_read(OutputFile const* file);
  bool waits_for_lists() const;

  HashRequest const request_;
  Progress progress_;
  HashOutput output_;
  std::stop_source enough_;
  struct PassOn {
    std::stop_source* to;
    void operator()() const { to->request_stop(); }
  };
  std::stop_callback<PassOn> const pass_on_;
  HashBook book_;
  CheckList list_;
  FileWalk walk_;
  std::optional<LedgerHash> ledger_;
  bool unfinished_ = false;  ///< The ledger has files without a result.
  std::atomic<bool> all_taken_{false};
  std::atomic<bool> reads_its_trace_{false};
  std::atomic<bool> reads_its_page_{false};
  std::optional<HashSource> source_;
  std::jthread measuring_;
};

}  // namespace penstock::cli
