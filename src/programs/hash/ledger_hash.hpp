// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/lease/ledger.hpp"
#include "programs/hash/file_walk.hpp"
#include "programs/hash/hash_book.hpp"
#include "programs/work/shared_ledger.hpp"

namespace penstock::cli {

/// The part of `penstock hash --ledger` that is this process's: files that it takes on lease, a range of them with each
/// lease, and their results, which the ledger keeps until all are there.
///
/// Threads: `next` and `file` one at a time each, `leave_out` as `next`; the others one.
class LedgerHash {
 public:
  /// True for a file that is no input, though it was found there.
  using LeftOut = std::function<bool(std::string const& path)>;

  /// Opens the ledger, a file or one in PostgreSQL, or makes it and fills it with the files of `walk`, but for those of
  /// the ledger itself and those that are left out. The paths say whether it is the ledger of this work.
  ///
  /// Blocks: until the walk is over, or a stop is requested: then the ledger stays empty.
  /// Throws: Error, if the ledger cannot be used, or a path is standard input; of kind unsupported, if this build has
  ///         no leases.
  LedgerHash(std::string const& ledger, std::vector<std::string> const& paths, FileWalk& walk,
             LeftOut const& is_left_out, std::stop_token const& stop, LedgerRole role = LedgerRole::alone);
  LedgerHash(LedgerHash const&) = delete;
  LedgerHash& operator=(LedgerHash const&) = delete;
  ~LedgerHash();

  /// The ledger, for a supervisor.
  Ledger& ledger();
  /// A tile of a file came home.
  void moved() noexcept;
  /// The next file; empty once all files of the ledger have a result, or a stop is requested.
  ///
  /// Blocks: while other processes have the files that are left.
  /// Throws: Error, if the ledger cannot be used.
  std::optional<WantedFile> next();
  /// True if `next` need not wait for a lease.
  bool is_ready() const;
  /// Says that a file of `next` is not to be hashed after all: it gets no result.
  void leave_out(WantedFile const& file);
  /// The result of a file, with WantedFile::lease of it. A problem of the file is a result, too. One of this process is
  /// none, and the lease is given back.
  ///
  /// Returns: false, if this process should take no more files.
  bool file(HashedFile const& file);
  /// The first problem of this process, with the file that it could not hash; empty if it had none.
  std::optional<std::string> inability() const;
  /// Gives back the files without results. Then calls `print`, but in a worker, for each file of the ledger, in the
  /// order of the walk, if all have results; else returns false.
  ///
  /// Throws: Error, if the ledger cannot be used.
  bool finish(std::function<void(HashedFile const&)> const& print);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock::cli
