// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/lease/ledger.hpp"
#include "programs/jobs/live_run.hpp"
#include "programs/measure/setting.hpp"
#include "programs/measure/trial.hpp"
#include "programs/work/shared_ledger.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// A ledger, and what a process does with it.
struct SharedWork {
  std::string path;              ///< A file, or an address in PostgreSQL.
  std::uint64_t part_bytes = 0;  ///< Size of the parts, if the ledger is to be filled.
  LedgerRole role = LedgerRole::alone;
};

/// The part of `run --ledger` that is this process's: parts of the input that it takes on lease, a run for each lease,
/// and what these came to, which the ledger keeps until all are there.
///
/// Threads: one; `so_far` another, one at a time.
class LedgerRun {
 public:
  /// Opens the ledger. One that is not there is made, and one without leases is filled with the parts of the input, but
  /// for a worker. The job and its options say whether it is the ledger of this work.
  ///
  /// Throws: Error, if the ledger cannot be used, or as Job::parts; of kind unsupported, if this build has no leases.
  LedgerRun(SharedWork const& shared, measure::Setting wanted, std::stop_token const& stop);
  LedgerRun(LedgerRun const&) = delete;
  LedgerRun& operator=(LedgerRun const&) = delete;
  ~LedgerRun();

  /// The ledger, for a supervisor.
  Ledger& ledger();
  /// Takes leases and answers them, until each of the ledger has an answer or is parked, or a stop is requested. Among
  /// `options` it uses only `beside`, which gets no tiles of its source.
  ///
  /// Blocks: also while other processes have the leases that are left.
  /// Throws: as Pipeline; Error of kind device_lost, if a device was lost; of kind system, if this process has no
  ///         descriptors or no memory left; if the ledger cannot be used. What was on the way goes to others.
  void work(DeviceGroup const& devices, measure::TrialOptions const& options);
  /// What all processes have done of the ledger's leases; the rate is that since the last call.
  ///
  /// Throws: as Ledger::progress.
  LeasesSoFar so_far();
  /// True if each lease has an answer or is parked.
  bool finished();
  /// The results of all leases of a finished ledger, as of one run.
  ///
  /// Throws: Error, if the answers are of another version of the program or of other input.
  measure::JobRun results();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
