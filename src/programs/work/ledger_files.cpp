// SPDX-License-Identifier: Apache-2.0
#include "programs/work/ledger_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "penstock/lease/open_ledger.hpp"

namespace penstock::cli {

std::vector<std::string> LedgerFiles::names(std::string const& ledger) {
  if (ledger.empty() || is_postgres_address(ledger)) return {};
  // The others lie beside the file that a link leads to.
  std::error_code problem;
  auto const whole = std::filesystem::weakly_canonical(ledger, problem);
  std::string const path = problem ? ledger : whole.string();
  return {path, path + "-wal", path + "-shm", path + "-locks"};
}

void LedgerFiles::look() {
  there_.clear();
  for (std::string const& name : names_) {
    struct stat status {};
    if (stat(name.c_str(), &status) == 0) there_.push_back({status.st_dev, status.st_ino});
  }
}

bool LedgerFiles::has(struct stat const& file) const noexcept {
  return std::any_of(there_.begin(), there_.end(),
                     [&](Identity const& one) { return one.device == file.st_dev && one.inode == file.st_ino; });
}

}  // namespace penstock::cli
