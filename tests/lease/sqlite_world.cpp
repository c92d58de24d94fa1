// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <csignal>
#include <filesystem>

#include "lease/ledger_world.hpp"
#include "lease/worker_process.hpp"
#include <stdlib.h>

#include "penstock/lease/sqlite_ledger.hpp"

namespace penstock::support {
namespace {

class DoomedProcess final : public DoomedOwner {
 public:
  explicit DoomedProcess(std::string const& ledger) : process_({ledger}) { process_.ask("take 0"); }
  std::vector<std::uint64_t> take(std::size_t most) override {
    return numbers_in(process_.ask("take " + std::to_string(most)));
  }
  void die() override { process_.kill(SIGKILL); }

 private:
  WorkerProcess process_;
};

class SqliteWorld final : public LedgerWorld {
 public:
  SqliteWorld() : ledger_(path(), {.most_tries = most_tries, .clock = [this] { return now_.load(); }}) {}
  SqliteWorld(SqliteWorld const&) = delete;
  SqliteWorld& operator=(SqliteWorld const&) = delete;
  ~SqliteWorld() override { std::filesystem::remove_all(folder_); }

  Ledger& ledger() override { return ledger_; }
  std::unique_ptr<DoomedOwner> doomed_owner() override { return std::make_unique<DoomedProcess>(path()); }
  void let_pass(std::chrono::milliseconds time) override { now_ = now_.load() + time; }

 private:
  std::string path() const { return folder_ + "/ledger"; }
  static std::string make_folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "penstock-ledger-XXXXXX";
    return mkdtemp(pattern.data());
  }

  std::string const folder_ = make_folder();
  std::atomic<std::chrono::nanoseconds> now_{std::chrono::hours(1)};
  SqliteLedger ledger_;
};

}  // namespace

std::unique_ptr<LedgerWorld> make_sqlite_world() {
  return std::make_unique<SqliteWorld>();
}

}  // namespace penstock::support
