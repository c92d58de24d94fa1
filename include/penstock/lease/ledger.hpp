// SPDX-License-Identifier: Apache-2.0
// Work that processes take on lease: what a lease is, and what each ledger that has leases promises.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/error.hpp"

namespace penstock {

/// A ledger that cannot be written for now: its disk is full, another program has it locked, or its server is gone. The
/// same call may succeed later. Nothing has changed, or the ledger knows what has: see LeaseOwner::exchange.
class LedgerUnavailable : public Error {
 public:
  explicit LedgerUnavailable(std::string const& sentence) : Error(ErrorKind::system, sentence) {}
};

/// Description of work: what to read, or a small payload, or both. A ledger keeps it as it is.
struct LeaseWork {
  /// LeaseWork::length of a file that is read to its end.
  static constexpr std::uint64_t to_the_end = ~std::uint64_t{0};
  /// Maximum size of all texts of a lease together. Each is written to the disk twice.
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;

  std::string path = {};  ///< A path or a URI; empty: the payload is all there is.
  std::uint64_t offset = 0;
  std::uint64_t length = to_the_end;
  std::string checksum = {};  ///< What the bytes must sum up to, in words that the reader understands.
  std::string payload = {};

  bool operator==(LeaseWork const&) const = default;
};

/// Work that was handed out to one owner, until that settles it.
struct Lease {
  std::uint64_t number = 0;   ///< 1, 2 ...: in the order in which leases were enqueued.
  std::uint32_t tries = 0;    ///< How often it was handed out, this time included.
  std::uint32_t charged = 0;  ///< Tries that count towards LedgerOptions::most_tries, this one included.
  /// An owner that had it ended, or lost its device. It is handed out alone, so that it can take no other along.
  bool suspect = false;
  LeaseWork work = {};
};

/// What an owner says of a lease. It holds only for the try that the owner has.
struct Settlement {
  /// Maximum size of an answer, which is written to the disk twice, too.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  enum class Kind : std::uint8_t {
    acknowledge,  ///< It is answered for good: `text` is the answer.
    give_back,    ///< Another may have it. This try does not count.
    /// This try failed, for the reason `text`. Another may try after 50 ms, and after twice that time, up to 5 s, for
    /// each charged try before; unless these were most_tries.
    fail,
    /// It failed and may have cost the owner its device, for the reason `text`. It is handed out alone, and at once.
    suspect,
    park  ///< No other should try, for the reason `text`.
  };
  Kind kind = Kind::acknowledge;
  std::uint64_t number = 0;  ///< Lease::number.
  std::uint32_t tries = 0;   ///< Lease::tries.
  std::string text = {};     ///< At most `most_bytes`.
};

/// A settlement that changed nothing, because its owner no longer has the lease by that try.
struct RefusedSettlement {
  std::size_t index = 0;  ///< Its place among those of the call.
  std::string reason;     ///< A sentence.
};

/// What an exchange came to.
struct Exchange {
  std::vector<Lease> taken = {};  ///< In the order of their numbers.
  std::vector<RefusedSettlement> refused = {};
  /// Nothing is ready, out or to come: LedgerProgress::finished.
  bool finished = false;
};

/// Counts of a ledger at one moment.
struct LedgerProgress {
  std::uint64_t leases = 0;  ///< All; the next four add up to them.
  std::uint64_t ready = 0;
  std::uint64_t out = 0;
  std::uint64_t done = 0;
  std::uint64_t parked = 0;
  std::uint64_t suspects = 0;  ///< Leases that are ready, but only for an owner that has no other.
  std::uint64_t lost = 0;      ///< Leases that are out to owners that are gone. The next exchange makes them ready.
  std::uint64_t owners = 0;    ///< Owners that joined, and are not gone.
  std::uint64_t retries = 0;   ///< Tries beyond the first of each lease.
  bool closed = false;         ///< No more leases can be enqueued.
  /// Time for which the lease that is out the longest has been out; empty if none is.
  std::optional<std::chrono::milliseconds> oldest_out = {};
  /// Time since the ready lease with the lowest number was enqueued; empty if none is ready.
  std::optional<std::chrono::milliseconds> oldest_ready = {};
  /// The moment, by LedgerOptions::clock. That of a file begins anew when the machine starts, so the age of what began
  /// before that is not known: it is some time up to that since the start.
  std::chrono::nanoseconds at{0};

  bool finished() const noexcept { return closed && ready == 0 && out == 0; }
};

/// Leases done per second between two moments; 0 if no time has passed.
double leases_per_second(LedgerProgress const& before, LedgerProgress const& after) noexcept;
/// One line: "120 of 1000 leases done, 16 out (the oldest for 2.1 s), 864 ready, 0 parked; 4 owners".
std::string describe(LedgerProgress const& progress);

/// What a server still keeps of a ledger beside what is needed.
struct LedgerUpkeep {
  std::uint64_t dead_rows = 0;  ///< Rows that were replaced, and that the server has not removed.
  /// Time for which the oldest transaction of the database that keeps such rows has been open; empty if there is none,
  /// or this user may not see it.
  std::optional<std::chrono::milliseconds> oldest_transaction = {};
  std::string transaction_of = {};  ///< Its session: "process 812 (psql, user anna)".
};

/// A lease that no owner gets any more.
struct ParkedLease {
  std::uint64_t number = 0;
  std::uint32_t tries = 0;
  std::string reason;  ///< A sentence.
  LeaseWork work = {};
};

struct LeaseAnswer {
  std::uint64_t number = 0;
  std::string answer;
};

/// What a LeaseSource takes leases from, and tells what became of them.
///
/// Threads: any.
class LeaseSupply {
 public:
  virtual ~LeaseSupply() = default;

  /// Settles leases and takes up to `most` others. If it throws, send the same settlements again: those that took
  /// effect are not refused then.
  ///
  /// Throws: LedgerUnavailable, if it may succeed later; else Error as it says.
  virtual Exchange exchange(std::span<Settlement const> settlements, std::size_t most) = 0;
  /// Says that what was taken is still worked on.
  virtual void keep_alive() = 0;
  /// Longest time without exchange() and keep_alive(), after which others may have what was taken. 0: no limit.
  virtual std::chrono::milliseconds silence() const { return std::chrono::milliseconds(0); }
};

/// A process, or a part of one, that has leases of a ledger. One for each process is enough.
///
/// A ledger sees at once when the process ends, however it ends, and hands out again what the owner had: one by one,
/// since any of these may have ended the process. A child of fork keeps its parent's owner alive until the child ends
/// or calls exec. In the child the destructor leaves everything to the parent.
///
/// Threads: any.
class LeaseOwner : public LeaseSupply {
 public:
  /// Settles leases and takes up to `most` others: all of it is on the disk when this returns. A try is recorded with
  /// it, before the caller has the lease. If it throws, send the same settlements again: those that took effect are not
  /// refused then.
  ///
  /// Suspects go alone. An owner that has nothing else gets one, and nothing more until it has settled that one. An
  /// owner that has other leases while a suspect is ready may get nothing, so that it can take the suspect once it has
  /// settled these.
  ///
  /// Blocks: for one write to the disk, or none if nothing changes, and for those of owners that came before; with a
  ///         network between, for that.
  /// Throws: LedgerUnavailable; Error of kind bad_argument, if a text is too large; else as it says. In a file nothing
  ///         has changed then, unless the disk failed while it was written: then all of it may have happened or not,
  ///         and the next exchange says which.
  Exchange exchange(std::span<Settlement const> settlements, std::size_t most) override = 0;

  /// Says that the owner is alive, for those that joined with a `silence`; exchange() says so, too.
  ///
  /// Blocks, throws: as exchange.
  void keep_alive() override = 0;
};

struct OwnerOptions {
  /// Longest time without exchange() and keep_alive(). After that others may have the owner's leases, and what it
  /// settles late is refused. 0: no limit, only the end of the process counts. LedgerOptions::clock says by which
  /// clock.
  std::chrono::milliseconds silence{0};
};

/// Treatment of a ledger that is there, or is not.
enum class LedgerOpening : std::uint8_t {
  any,       ///< A ledger that is not there is made.
  existing,  ///< The ledger must be there.
  fresh      ///< The ledger must not be there.
};

struct LedgerOptions {
  LedgerOpening opening = LedgerOpening::any;
  /// What the leases are for. It is kept with a new ledger; an existing one that has another purpose is refused. Empty:
  /// any purpose will do.
  std::string purpose = {};
  /// Tries that may fail, or end their owner, before a lease is parked. It is kept with a new ledger.
  std::uint32_t most_tries = 5;
  /// The clock for OwnerOptions::silence, for rests and for ages. Empty: for a file CLOCK_BOOTTIME, which no one sets
  /// and which runs while the machine sleeps; for PostgreSQL the server's clock.
  std::function<std::chrono::nanoseconds()> clock = {};
};

/// A list of leases on which any number of owners work, each lease until it is answered or parked.
///
/// Threads: any.
class Ledger {
 public:
  virtual ~Ledger() = default;

  /// Adds leases, all or none; their numbers follow each other. With `last` the ledger is closed in the same step: no
  /// more leases come, and owners that have nothing left to take are finished.
  ///
  /// Blocks:  as LeaseOwner::exchange.
  /// Returns: false, if the ledger was closed before: nothing was added.
  /// Throws:  Error of kind bad_argument, if a lease is larger than LeaseWork::most_bytes; else as exchange.
  virtual bool enqueue(std::span<LeaseWork const> work, bool last = false) = 0;
  /// Registers an owner. When that is destroyed, all that it has is given back, and none of it counts as a try. The
  /// owner may outlive the ledger's object.
  virtual std::unique_ptr<LeaseOwner> join(OwnerOptions options = {}) = 0;

  virtual LedgerProgress progress() = 0;
  /// Up to `most` parked leases with numbers above `after`, lowest first.
  virtual std::vector<ParkedLease> parked(std::uint64_t after = 0, std::size_t most = 1000) = 0;
  /// Makes a parked lease ready, with all its tries before it. False if it is not parked.
  virtual bool unpark(std::uint64_t number) = 0;
  /// Answers of up to `most` leases that are done, with numbers above `after`, lowest first.
  virtual std::vector<LeaseAnswer> answers(std::uint64_t after = 0, std::size_t most = 1000) = 0;
  /// Nothing for a ledger without a server.
  virtual std::optional<LedgerUpkeep> upkeep() { return std::nullopt; }
};

}  // namespace penstock
