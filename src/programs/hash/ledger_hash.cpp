// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/ledger_hash.hpp"

#include "penstock/error.hpp"

#ifdef PENSTOCK_WITH_LEASE
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "lease/lease_keeper.hpp"
#include <sys/stat.h>

#include "penstock/lease/open_ledger.hpp"
#include "programs/hash/ledger_text.hpp"
#include "programs/work/ledger_files.hpp"
#endif

namespace penstock::cli {

#ifdef PENSTOCK_WITH_LEASE
namespace {

constexpr char const* is_of_the_ledger = "is a file of the ledger, which is not hashed";

std::vector<LeaseWork> leases_of(FileWalk& walk, LedgerFiles const& own, LedgerHash::LeftOut const& is_left_out,
                                 std::stop_token const& stop) {
  std::vector<LeaseWork> leases;
  std::size_t files = most_files_of_lease;
  std::uint64_t bytes = 0;
  while (auto found = walk.next()) {
    if (stop.stop_requested()) return leases;
    if (is_shortage(found->problem)) throw Error(ErrorKind::system, found->path + ": " + found->problem);
    struct stat status {};
    bool const is_there = found->problem.empty() && stat(found->path.c_str(), &status) == 0;
    if (is_there && own.has(status)) {
      if (found->folder != nullptr) continue;
      found->problem = is_of_the_ledger;
    }
    if (is_there && is_left_out(found->path)) continue;
    if (files >= most_files_of_lease || bytes >= most_bytes_of_lease ||
        leases.back().payload.size() >= most_path_bytes_of_lease) {
      leases.emplace_back();
      files = 0;
      bytes = 0;
    }
    bool const regular = found->kind == 0 || S_ISREG(found->kind);
    if (found->problem.empty() && !regular)
      found->problem = "is no regular file, and cannot be read again; hash it without --ledger";
    put_wanted(leases.back().payload, found->path, found->problem);
    ++files;
    if (is_there && regular) bytes += static_cast<std::uint64_t>(status.st_size);
  }
  return leases;
}

}  // namespace

class LedgerHash::Parts {
 public:
  Parts(std::string const& path, std::vector<std::string> const& paths, FileWalk& walk, LeftOut const& is_left_out,
        std::stop_token const& stop, LedgerRole role)
      : role_(role),
        ledger_(open_ledger(path, {.purpose = purpose_of(paths, walk.shard()), .most_tries = most_tries_of_work})),
        own_(path) {
    if (!ledger_->progress().closed) {
      own_.look();
      auto const leases = leases_of(walk, own_, is_left_out, stop);
      // Where another process was faster, the ledger has these leases already.
      if (!stop.stop_requested()) ledger_->enqueue(leases, true);
    }
    if (role_ != LedgerRole::supervisor)
      keeper_.emplace(*ledger_, LeaseSourceOptions{.leases = leases_at_once, .stop = stop});
  }

  Ledger& ledger() noexcept { return *ledger_; }
  void moved() noexcept {
    if (keeper_) keeper_->moved();
  }

  bool is_ready() const { return next_file_ < files_.size() || keeper_->is_ready(); }

  std::optional<WantedFile> next() {
    while (next_file_ == files_.size()) {
      auto lease = keeper_->next();
      if (!lease) return std::nullopt;
      files_ = files_of(lease->work.payload);
      next_file_ = 0;
      own_.look();
      std::lock_guard const lock(mutex_);
      held_.emplace(++last_held_, Held{.number = lease->number, .tries = lease->tries, .left = files_.size()});
    }
    WantedFile& file = files_[next_file_++];
    file.lease = last_held_;
    struct stat status {};
    if (file.problem.empty() && stat(file.path.c_str(), &status) == 0 && own_.has(status))
      file.problem = is_of_the_ledger;
    return std::move(file);
  }

  void leave_out(WantedFile const& file) {
    std::lock_guard const lock(mutex_);
    count(held_.find(file.lease));
  }

  bool file(HashedFile const& file) {
    std::lock_guard const lock(mutex_);
    auto const at = held_.find(file.lease);
    if (at == held_.end()) return true;
    Held& held = at->second;
    if (file.cancelled) held.cancelled = true;
    // The rest of its files may never come; what is settled later of this try does not count.
    if (file.fault == HashFault::device) settle(held, Settlement::Kind::suspect, file.problem);
    bool const is_able = file.fault != HashFault::process && !is_shortage(file.problem);
    if (!is_able) {
      held.cancelled = true;
      if (!inability_) inability_ = file.path + ": " + file.problem;
    }
    put_result(held.answer, file);
    count(at);
    return is_able;
  }

  std::optional<std::string> inability() const {
    std::lock_guard const lock(mutex_);
    return inability_;
  }

  bool finish(std::function<void(HashedFile const&)> const& print) {
    if (keeper_) keeper_->finish();
    if (!ledger_->progress().finished()) return false;
    if (role_ == LedgerRole::worker) return true;
    each_result(
        *ledger_, page_size,
        [&](LeaseAnswer const& one) {
          for (HashedFile const& file : results_of(one.answer)) print(file);
        },
        [&](ParkedLease const& one) {
          for (WantedFile& file : files_of(one.work.payload)) {
            HashedFile missing;
            missing.path = std::move(file.path);
            missing.problem = "not hashed after " + std::to_string(one.tries) + " tries: " + one.reason;
            print(missing);
          }
        });
    return true;
  }

 private:
  static constexpr std::size_t page_size = 256;

  /// A lease whose files are on the way.
  struct Held {
    std::uint64_t number = 0;
    std::uint32_t tries = 0;
    std::size_t left = 0;  ///< Files without a result.
    std::string answer = {};
    bool cancelled = false;
  };
  /// Settles a lease once all its files have a result, or need none.
  void count(std::map<std::uint64_t, Held>::iterator at) {
    Held& held = at->second;
    if (--held.left != 0) return;
    if (held.cancelled) {
      settle(held, Settlement::Kind::give_back, {});
    } else {
      settle(held, Settlement::Kind::acknowledge, std::move(held.answer));
    }
    held_.erase(at);
  }
  void settle(Held const& held, Settlement::Kind kind, std::string text) {
    keeper_->settle({.kind = kind, .number = held.number, .tries = held.tries, .text = std::move(text)});
  }

  LedgerRole const role_;
  std::unique_ptr<Ledger> const ledger_;
  LedgerFiles own_;
  std::optional<LeaseKeeper> keeper_;
  std::vector<WantedFile> files_;  ///< Those of the lease that was taken last.
  std::size_t next_file_ = 0;
  std::mutex mutable mutex_;
  /// Leases by WantedFile::lease: of one that is suspect, the next try may be here while files of the last one are.
  std::map<std::uint64_t, Held> held_;
  std::uint64_t last_held_ = 0;
  std::optional<std::string> inability_;
};

LedgerHash::LedgerHash(std::string const& ledger, std::vector<std::string> const& paths, FileWalk& walk,
                       LeftOut const& is_left_out, std::stop_token const& stop, LedgerRole role)
    : parts_(std::make_unique<Parts>(ledger, paths, walk, is_left_out, stop, role)) {}
#else
class LedgerHash::Parts {
 public:
  void moved() noexcept {}
  std::optional<WantedFile> next() { return std::nullopt; }
  bool is_ready() const { return true; }
  void leave_out(WantedFile const&) {}
  bool file(HashedFile const&) { return false; }
  std::optional<std::string> inability() const { return std::nullopt; }
  bool finish(std::function<void(HashedFile const&)> const&) { return false; }
};

LedgerHash::LedgerHash(std::string const&, std::vector<std::string> const&, FileWalk&, LeftOut const&,
                       std::stop_token const&, LedgerRole) {
  refuse_ledgers();
}
#endif

LedgerHash::~LedgerHash() = default;

#ifdef PENSTOCK_WITH_LEASE
Ledger& LedgerHash::ledger() {
  return parts_->ledger();
}
#endif

void LedgerHash::moved() noexcept {
  parts_->moved();
}

std::optional<WantedFile> LedgerHash::next() {
  return parts_->next();
}

bool LedgerHash::is_ready() const {
  return parts_->is_ready();
}

void LedgerHash::leave_out(WantedFile const& file) {
  parts_->leave_out(file);
}

bool LedgerHash::file(HashedFile const& file) {
  return parts_->file(file);
}

std::optional<std::string> LedgerHash::inability() const {
  return parts_->inability();
}

bool LedgerHash::finish(std::function<void(HashedFile const&)> const& print) {
  return parts_->finish(print);
}

}  // namespace penstock::cli
