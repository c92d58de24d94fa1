// SPDX-License-Identifier: Apache-2.0
// Answers of leases that are too large for the ledger: a file for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "penstock/lease/lease_source.hpp"

namespace penstock {

struct AnswerFilesOptions {
  /// The end of each file's name, such as ".csv".
  std::string suffix = {};
  /// Bytes of answers that may wait for the disk; `put` waits beyond that. One answer may always wait.
  std::size_t most_waiting = std::size_t{64} << 20;
  /// Ends the wait for a disk that is full or takes no files.
  std::stop_token stop = {};
};

/// Keeps the answer of each lease in a file of one folder, and acknowledges the lease once the file is on the disk
/// under its name. A file is there as a whole or not at all, and an answer that comes again takes the place of the one
/// before: so each lease has one answer, however often it was worked on and whichever processes were killed, if its
/// bytes do not depend on the try.
///
/// `put` is for LeaseSink::answer, which then returns nothing. A thread of its own, "ps-answers", writes all that waits
/// and makes it durable together.
///
/// A folder that cannot be written for now, as its disk is full, costs no tries: it is tried again after 50 ms, then
/// after pauses that double up to 2 s, until that works or a stop is requested. A message says so once. What could not
/// be written by then has no answer, and LeaseSource::finish gives it back.
///
/// Threads: any.
class AnswerFiles {
 public:
  /// Makes the folder if it is not there; the one above it must be. Several processes may have one folder.
  ///
  /// Throws: Error of kind bad_argument, if no file can be made in it; of kind system, if there is no thread.
  explicit AnswerFiles(std::string folder, AnswerFilesOptions options = {});
  AnswerFiles(AnswerFiles const&) = delete;
  AnswerFiles& operator=(AnswerFiles const&) = delete;
  /// As `drain`.
  ~AnswerFiles();

  /// The file of a lease: its number in ten digits, and the suffix.
  std::string path_of(std::uint64_t number) const;
  /// Takes the answer of a lease of this source. `in_ledger` is what the ledger keeps as the answer; with nothing the
  /// file's name. The source must be there until `drain` has returned.
  ///
  /// Blocks: while too much waits.
  void put(LeaseSource& source, Lease const& lease, std::string content, std::string in_ledger = {});
  /// Call it before LeaseSource::finish.
  ///
  /// Blocks: until all that was put is on the disk and acknowledged, or could not be written and a stop is requested.
  void drain();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
