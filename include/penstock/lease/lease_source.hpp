// SPDX-License-Identifier: Apache-2.0
// Work on lease as the source of a pipeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/lease/ledger.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Thrown by a LeaseSink, or by what opens or reads leases: the fault is of this process or of its machine, such as a
/// full disk or a wrong path in its settings, and of no lease. The lease is given back, nothing is charged, and the
/// input ends.
class WorkerUnable : public Error {
 public:
  explicit WorkerUnable(std::string const& sentence) : Error(ErrorKind::system, sentence) {}
};

/// The bytes that the work of one lease names, open for reading.
class LeaseInput {
 public:
  virtual ~LeaseInput() = default;
  /// Units: bytes.
  virtual std::uint64_t size() const = 0;
  /// Fills `to` with the bytes from `offset` on.
  ///
  /// Shape:   offset + to.size() is at most size().
  /// Threads: any, several at once.
  /// Throws:  anything; the try fails.
  virtual void read(std::uint64_t offset, std::span<std::byte> to) = 0;
};

/// Opens what the work of a lease names: the bytes of a file from `offset` on, or the payload if there is no path. The
/// checksum is not looked at.
///
/// Throws: Error, if the file cannot be read or has fewer bytes.
std::unique_ptr<LeaseInput> open_lease(Lease const& lease);

/// The part of a lease that a tile holds.
struct LeasePart {
  Lease const& lease;
  std::uint64_t offset = 0;  ///< Of the tile's first byte, from the beginning of the lease's bytes.
};

/// Gets the tiles of leases that a LeaseSource cut, and answers the leases.
class LeaseSink {
 public:
  virtual ~LeaseSink() = default;
  /// A tile is done. Tiles of one lease may come in any order, and between those of others, unless the pipeline says
  /// otherwise.
  ///
  /// Threads: as penstock::Sink.
  /// Throws:  anything; the try of the lease fails, and the report counts it.
  virtual void take(Completion& completion, LeasePart const& part) = 0;
  /// All tiles of the lease came to `take`. Returns the answer, which the ledger keeps in the same step in which it
  /// acknowledges the lease. What the sink wrote elsewhere must be durable by then: if that takes longer, return
  /// nothing, and call LeaseSource::acknowledge once it is. A lease whose answer is larger than Settlement::most_bytes
  /// is parked.
  ///
  /// Threads: as penstock::Sink.
  /// Throws:  anything; the try fails.
  virtual std::optional<std::string> answer(Lease const& lease) = 0;
  /// This try ends without an answer: what was collected of it is void.
  ///
  /// Threads: those of penstock::Sink, producers, and that which calls LeaseSource::finish.
  virtual void forget(Lease const& lease) noexcept = 0;
};

struct LeaseSourceOptions {
  /// Leases that are taken together, but not more than the pipeline has tiles. More are on the way while their tiles
  /// are.
  std::size_t leases = 16;
  /// Opens what is to be read.
  std::function<std::unique_ptr<LeaseInput>(Lease const&)> open = open_lease;
  /// Ends the input. Leases whose tiles are on the way are finished.
  std::stop_token stop = {};
  OwnerOptions owner = {};
  /// Time after which the ledger is asked again while other owners have all that is left.
  std::chrono::milliseconds poll = std::chrono::milliseconds(100);
};

/// What became of the leases that a source took.
struct LeaseCounts {
  std::uint64_t taken = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t failed = 0;      ///< Failed tries, and tries that lost the device.
  std::uint64_t given_back = 0;  ///< Tries that do not count.
  std::uint64_t refused = 0;     ///< Settlements that came when another had the lease.
};

/// Feeds a pipeline with leases of a ledger, each cut into tiles. It is one owner of the ledger.
///
/// `pipeline.run(source, stage, source.sink())`, then `source.finish()`. A lease is acknowledged once all its tiles
/// came through the sink as done and the LeaseSink has answered it. If a tile failed, the try failed; if one was
/// cancelled, the lease is given back. If a device was lost, the input ends, and `finish` makes suspects of the leases
/// whose tiles it failed: a process that lost a device should end and be started again.
///
/// All producers read at once. A lease's tiles but the last are full; a lease without bytes is one empty tile. A lease
/// that cannot be opened has one tile, which fails at "source".
///
/// If the owner was silent for too long, the ledger may hand out to it again what it lost. Tiles of such a later try
/// come only once those of the try before came back, and that try was forgotten.
///
/// The input ends when the ledger is finished: it is closed, and each lease is answered or parked. Until then the
/// source waits for leases that other owners give back.
///
/// While the ledger cannot be written (LedgerUnavailable), it is tried again after 50 ms, then after pauses that double
/// up to 2 s, until that works or LeaseSourceOptions::stop is requested. A message says so once.
///
/// What a lease came to is said to the ledger within 50 ms, if that can be reached.
///
/// A thread of its own, "ps-lease", takes leases and settles others in the same step, while tiles are on the way. It
/// takes none before the run begins.
///
/// Threads: as Source; `acknowledge`, `fail` and `counts` any.
class LeaseSource final : public Source {
 public:
  /// Joins the ledger. Ledger, pool and sink must outlive the source.
  ///
  /// Throws: Error, as Ledger::join; of kind bad_argument, if tiles have no input.
  LeaseSource(Ledger& ledger, Pool const& pool, LeaseSink& sink, LeaseSourceOptions options = {});
  /// Takes leases from what is no ledger, as NatsClaims: its promises hold then. LeaseSourceOptions::owner is not
  /// looked at. Pool and sink must outlive the source.
  ///
  /// Throws: Error of kind bad_argument, if tiles have no input; of kind system, if there is no thread.
  LeaseSource(std::unique_ptr<LeaseSupply> supply, Pool const& pool, LeaseSink& sink, LeaseSourceOptions options = {});
  LeaseSource(LeaseSource const&) = delete;
  LeaseSource& operator=(LeaseSource const&) = delete;
  /// As `finish`; a failure is a message (error.hpp).
  ~LeaseSource() override;

  /// The sink for the pipeline that this source feeds.
  Sink sink();
  /// Acknowledges a lease for which LeaseSink::answer returned nothing.
  void acknowledge(Lease const& lease, std::string answer);
  /// The same lease has no answer, for this reason: the try failed.
  void fail(Lease const& lease, std::string reason);
  /// Settles all leases, and gives back those that have no answer, of which the sink is told to forget the tries. Call
  /// it when the run is over.
  ///
  /// Blocks: as LeaseOwner::exchange; where LeaseSourceOptions::stop can be requested, until the ledger can be written
  ///         or that is.
  /// Throws: Error, if the ledger cannot be written: others will get these leases again, as if the process had died;
  ///         else WorkerUnable, once, if that ended the input.
  void finish();
  /// The same behind a run with a hook of attribution() (observe.hpp). Where that lost a device, a lease is a suspect
  /// only if one of its tiles fails by itself or was not tried. Of the others, those that had another tile that failed
  /// for a reason of its own fail for that; the rest are given back, and not charged.
  void finish(Report const& report);
  LeaseCounts counts() const;

  /// Blocks: until there is a lease, the ledger is finished, or a stop is requested.
  /// Throws: Error, if the ledger cannot be used.
  bool next(Tile& tile) override;
  std::size_t fill(Tile& tile) override;
  /// The number of settlements that were refused, and the first reason.
  std::vector<std::string> remarks() const override;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
