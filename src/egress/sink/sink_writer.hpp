// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "egress/sink/outlet.hpp"
#include "engine/core/descriptor.hpp"
#include "engine/machine/ending.hpp"
#include "penstock/egress/sinks.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// Words about a SinkWriter in its error messages.
struct WriterWords {
  std::string name;
  std::string instead = "name another file";  ///< Another remedy.
  std::string outcome = {};                   ///< Result so far; empty: the number of bytes written.
};

/// Counts of all writers of one sink: bytes given and bytes written.
///
/// Units:   bytes.
/// Threads: any, also while a writer waits.
struct SinkTally {
  std::atomic<std::uint64_t> given = 0, written = 0;

  SinkCounts counts() const noexcept {
    return {.given = given.load(std::memory_order_relaxed), .written = written.load(std::memory_order_relaxed)};
  }
};

/// Whole records on their way to a descriptor, in large pieces.
///
/// Threads: one at a time.
class SinkWriter {
 public:
  /// The caller keeps the descriptor, unless `own` gets it; it, `ending` and `tally` must outlive this object.
  SinkWriter(WriterWords words, int descriptor, SinkOptions const& options, Ending const& ending, SinkTally& tally);

  /// Takes over the descriptor of the constructor, to close it with this object.
  void own(Descriptor& opened) noexcept { own_.number = std::exchange(opened.number, -1); }

  /// Throws: Error of kind system, if not all could be written, now or before.
  void append(std::span<std::byte const> records);
  void flush();
  /// Waits until the data written is on the disk; with a `path`, also the entries of its folder.
  ///
  /// Throws: as append.
  void sync(std::string const& path);
  /// Closes its descriptors, so that the reader of a pipe sees its end. Nothing may be appended afterwards.
  ///
  /// Throws: as append.
  void shut();
  /// Makes all later calls throw an Error for this problem, an errno, as this call does; 0: no problem.
  void expect_none(int problem);
  bool failed() const noexcept { return problem_ != 0; }

 private:
  void write(std::span<std::byte const> bytes, std::span<std::size_t const> ends);
  Error failure() const;

  WriterWords const words_;
  SinkOptions const options_;
  Ending const& ending_;
  SinkTally& tally_;
  int const descriptor_;
  Descriptor own_;
  Outlet outlet_;
  std::vector<std::byte> piece_;
  std::vector<std::size_t> ends_;  ///< Ends of the calls' bytes in the piece.
  std::uint64_t written_ = 0;
  int problem_ = 0;       ///< The errno of its failure. The sentence is made when it is thrown, since memory may be
                          /// short.
  bool in_part_ = false;  ///< True if the reader also got a part of the next record.
};

}  // namespace penstock
