// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "programs/hash/file_walk.hpp"
#include "programs/hash/hash_book.hpp"

namespace penstock::cli {

/// The part of `penstock hash --ledger` that is this process's: files that it takes on lease, a range of them with each
/// lease, and their results, which the ledger keeps until all are there.
///
/// Threads: `next` and `file` one at a time each; the others one.
class LedgerHash {
 public:
  /// Opens the ledger, or makes it and fills it with the files of `walk`. The paths say whether it is the ledger of
  /// this work.
  ///
  /// Blocks: until the walk is over, or a stop is requested: then the ledger stays empty.
  /// Throws: Error, if the ledger cannot be used, or a path is standard input; of kind unsupported, if this build has
  ///         no leases.
  LedgerHash(std::string const& ledger, std::vector<std::string> const& paths, FileWalk& walk,
             std::stop_token const& stop);
  LedgerHash(LedgerHash const&) = delete;
  LedgerHash& operator=(LedgerHash const&) = delete;
  ~LedgerHash();

  /// The next file; empty once all files of the ledger have a result, or a stop is requested.
  ///
  /// Blocks: while other processes have the files that are left.
  /// Throws: Error, if the ledger cannot be used.
  std::optional<WantedFile> next();
  /// The result of a file, in the order of `next`.
  void file(HashedFile const& file);
  /// Says that results with a problem may be the device's fault from now on.
  ///
  /// Threads: any.
  void device_was_lost() noexcept;
  /// Gives back the files without results. Then calls `print` for each file of the ledger, in the order of the walk, if
  /// all have results; else returns false.
  ///
  /// Throws: Error, if the ledger cannot be used.
  bool finish(std::function<void(HashedFile const&)> const& print);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock::cli
