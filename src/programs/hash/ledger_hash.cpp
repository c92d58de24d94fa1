// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/ledger_hash.hpp"

#include "penstock/error.hpp"

#ifdef PENSTOCK_WITH_LEASE
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include "lease/lease_keeper.hpp"
#include <sys/stat.h>

#include "engine/core/fnv.hpp"
#include "engine/core/number_text.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#endif

namespace penstock::cli {

#ifdef PENSTOCK_WITH_LEASE
namespace {

/// Each lease ends with the file that reaches one of these. Its files are read anew where a process ends, so they are
/// not many; a lease costs the ledger as much as several small files cost to hash.
constexpr std::size_t most_files = 128;
constexpr std::uint64_t most_file_bytes = std::uint64_t{64} << 20;
constexpr std::size_t most_path_bytes = std::size_t{64} << 10;

/// Texts in a lease or an answer end with a zero, which no path has.
void put(std::string& to, std::string_view text) {
  to += text;
  to += '\0';
}
std::string_view take_text(std::string_view& from) {
  std::size_t const end = std::min(from.find('\0'), from.size());
  std::string_view const text = from.substr(0, end);
  from.remove_prefix(std::min(end + 1, from.size()));
  return text;
}

std::vector<WantedFile> files_of(std::string_view payload) {
  std::vector<WantedFile> files;
  while (!payload.empty()) {
    WantedFile& file = files.emplace_back();
    file.path = take_text(payload);
    file.problem = take_text(payload);
  }
  return files;
}

void put(std::string& answer, HashedFile const& file) {
  put(answer, file.path);
  put(answer, file.digest ? blake3_hex(*file.digest) : "");
  put(answer, std::to_string(file.bytes));
  put(answer, file.problem);
}

/// The number in these digits; 0 for others.
template <class Number>
Number number_of(std::string_view digits, int base) {
  Number number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return number;
}

HashedFile take_result(std::string_view& answer) {
  HashedFile file;
  file.path = take_text(answer);
  std::string_view const hex = take_text(answer);
  if (!hex.empty()) {
    Blake3Digest& digest = file.digest.emplace();
    for (std::size_t k = 0; k < digest.size() && 2 * k < hex.size(); ++k)
      digest[k] = std::byte{number_of<std::uint8_t>(hex.substr(2 * k, 2), 16)};
  }
  file.bytes = number_of<std::uint64_t>(take_text(answer), 10);
  file.problem = take_text(answer);
  return file;
}

/// What the ledger is for: these paths, seen from this folder. Of many paths a checksum says which.
std::string purpose_of(std::vector<std::string> const& paths) {
  constexpr std::size_t longest = 300;
  std::string all;
  for (std::string const& path : paths) {
    if (path == "-")
      throw Error(ErrorKind::bad_argument, "--ledger is for files that can be read again, and '-' is not: name files.");
    all += " " + path;
  }
  std::string text = "penstock hash, in " + std::filesystem::current_path().string() + ", of";
  if (all.size() <= longest) return text + all;
  std::uint64_t const sum = fnv(std::as_bytes(std::span(all)));
  return text + all.substr(0, longest) + " ... " + count_text(paths.size(), "path") + ", " + std::to_string(sum);
}

std::vector<LeaseWork> leases_of(FileWalk& walk, std::stop_token const& stop) {
  std::vector<LeaseWork> leases;
  std::size_t files = most_files;
  std::uint64_t bytes = 0;
  while (auto found = walk.next()) {
    if (stop.stop_requested()) return leases;
    if (files >= most_files || bytes >= most_file_bytes || leases.back().payload.size() >= most_path_bytes) {
      leases.emplace_back();
      files = 0;
      bytes = 0;
    }
    bool const regular = found->kind == 0 || S_ISREG(found->kind);
    if (found->problem.empty() && !regular)
      found->problem = "is no regular file, and cannot be read again; hash it without --ledger";
    put(leases.back().payload, found->path);
    put(leases.back().payload, found->problem);
    struct stat status {};
    ++files;
    if (found->problem.empty() && stat(found->path.c_str(), &status) == 0)
      bytes += static_cast<std::uint64_t>(status.st_size);
  }
  return leases;
}

}  // namespace

class LedgerHash::Parts {
 public:
  Parts(std::string const& path, std::vector<std::string> const& paths, FileWalk& walk, std::stop_token const& stop)
      : ledger_(path, {.purpose = purpose_of(paths), .most_tries = most_tries}) {
    if (!ledger_.progress().closed) {
      auto const leases = leases_of(walk, stop);
      // Where another process was faster, the ledger has these leases already.
      if (!stop.stop_requested()) ledger_.enqueue(leases, true);
    }
    keeper_.emplace(ledger_, LeaseSourceOptions{.leases = leases_at_once, .stop = stop});
  }

  std::optional<WantedFile> next() {
    while (next_file_ == files_.size()) {
      auto lease = keeper_->next();
      if (!lease) return std::nullopt;
      files_ = files_of(lease->work.payload);
      next_file_ = 0;
      std::lock_guard const lock(mutex_);
      held_.push_back({.number = lease->number, .tries = lease->tries, .left = files_.size()});
    }
    return std::move(files_[next_file_++]);
  }

  void file(HashedFile const& file) {
    std::lock_guard const lock(mutex_);
    Held& held = held_.front();
    if (file.cancelled) held.cancelled = true;
    // The rest of its files may never come; what is settled later of this lease does not count.
    if (lost_.load() && !file.problem.empty()) settle(held, Settlement::Kind::suspect, file.problem);
    put(held.answer, file);
    if (--held.left != 0) return;
    if (held.cancelled) {
      settle(held, Settlement::Kind::give_back, {});
    } else {
      settle(held, Settlement::Kind::acknowledge, std::move(held.answer));
    }
    held_.pop_front();
  }

  void device_was_lost() noexcept { lost_.store(true); }

  bool finish(std::function<void(HashedFile const&)> const& print) {
    keeper_->finish();
    if (!ledger_.progress().finished()) return false;
    std::map<std::uint64_t, ParkedLease> parked;
    for (std::uint64_t after = 0;;) {
      auto page = ledger_.parked(after, page_size);
      if (page.empty()) break;
      after = page.back().number;
      for (ParkedLease& one : page) parked.emplace(one.number, std::move(one));
    }
    auto const print_parked = [&](std::uint64_t before) {
      while (!parked.empty() && parked.begin()->first < before) {
        ParkedLease const& one = parked.begin()->second;
        for (WantedFile& file : files_of(one.work.payload)) {
          HashedFile missing;
          missing.path = std::move(file.path);
          missing.problem = "not hashed after " + std::to_string(one.tries) + " tries: " + one.reason;
          print(missing);
        }
        parked.erase(parked.begin());
      }
    };
    for (std::uint64_t after = 0;;) {
      auto const page = ledger_.answers(after, page_size);
      if (page.empty()) break;
      for (LeaseAnswer const& one : page) {
        print_parked(one.number);
        for (std::string_view rest = one.answer; !rest.empty();) print(take_result(rest));
      }
      after = page.back().number;
    }
    print_parked(~std::uint64_t{0});
    return true;
  }

 private:
  static constexpr std::size_t leases_at_once = 16, page_size = 256;
  /// A process that ends was mostly ended by its user, who may do so often, and not by a file.
  static constexpr std::uint32_t most_tries = 100;

  /// A lease whose files are on the way.
  struct Held {
    std::uint64_t number = 0;
    std::uint32_t tries = 0;
    std::size_t left = 0;  ///< Files without a result.
    std::string answer = {};
    bool cancelled = false;
  };
  void settle(Held const& held, Settlement::Kind kind, std::string text) {
    keeper_->settle({.kind = kind, .number = held.number, .tries = held.tries, .text = std::move(text)});
  }

  SqliteLedger ledger_;
  std::optional<LeaseKeeper> keeper_;
  std::vector<WantedFile> files_;  ///< Those of the lease that was taken last.
  std::size_t next_file_ = 0;
  std::mutex mutex_;
  std::deque<Held> held_;  ///< In the order of their files.
  std::atomic<bool> lost_{false};
};

LedgerHash::LedgerHash(std::string const& ledger, std::vector<std::string> const& paths, FileWalk& walk,
                       std::stop_token const& stop)
    : parts_(std::make_unique<Parts>(ledger, paths, walk, stop)) {}
#else
class LedgerHash::Parts {
 public:
  std::optional<WantedFile> next() { return std::nullopt; }
  void file(HashedFile const&) {}
  void device_was_lost() noexcept {}
  bool finish(std::function<void(HashedFile const&)> const&) { return false; }
};

LedgerHash::LedgerHash(std::string const&, std::vector<std::string> const&, FileWalk&, std::stop_token const&) {
  throw Error(ErrorKind::unsupported,
              "This build has no ledgers, as SQLite was not there: install libsqlite3-dev, and build penstock again.");
}
#endif

LedgerHash::~LedgerHash() = default;

std::optional<WantedFile> LedgerHash::next() {
  return parts_->next();
}

void LedgerHash::file(HashedFile const& file) {
  parts_->file(file);
}

void LedgerHash::device_was_lost() noexcept {
  parts_->device_was_lost();
}

bool LedgerHash::finish(std::function<void(HashedFile const&)> const& print) {
  return parts_->finish(print);
}

}  // namespace penstock::cli
