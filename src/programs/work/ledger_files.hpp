// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/stat.h>

namespace penstock::cli {

/// The four files of a ledger in a file. A process that has the ledger open must not open and close one of them
/// besides: with that the system drops all locks that the process has on it (docs/decisions/leases.md).
///
/// Threads: one at a time.
class LedgerFiles {
 public:
  explicit LedgerFiles(std::string const& ledger) : names_(names(ledger)) {}

  /// Their names, whether they are there or not. A ledger in PostgreSQL has none.
  static std::vector<std::string> names(std::string const& ledger);
  /// Looks which files have these names now.
  void look();
  /// True if `file` is one of them, by whatever name it was found.
  bool has(struct stat const& file) const noexcept;

 private:
  struct Identity {
    dev_t device;
    ino_t inode;
  };
  std::vector<std::string> const names_;
  std::vector<Identity> there_;
};

}  // namespace penstock::cli
