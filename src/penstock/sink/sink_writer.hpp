// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/descriptor.hpp"
#include "penstock/error.hpp"
#include "penstock/machine/ending.hpp"
#include "penstock/sink/outlet.hpp"
#include "penstock/sinks.hpp"

namespace penstock {

/// What a SinkWriter says of itself in an error.
struct WriterWords {
  std::string name;
  std::string instead = "name another file";  ///< What else may help.
  std::string outcome = {};                   ///< What has become of it; empty: how many bytes it got.
};

/// What writers of one sink were given and have written.
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
  /// The descriptor stays the caller's, unless `own` gets it; it, `ending` and `tally` outlive this object.
  SinkWriter(WriterWords words, int descriptor, SinkOptions const& options, Ending const& ending, SinkTally& tally);

  /// Takes the descriptor of the constructor over, to close it with this object.
  void own(Descriptor& opened) noexcept { own_.number = std::exchange(opened.number, -1); }

  /// Throws: Error of kind system, if not all could be written, now or before.
  void append(std::span<std::byte const> records);
  void flush();
  /// Waits until what it wrote is on the disk; and the names of its folder, if it has a `path`.
  ///
  /// Throws: as append.
  void sync(std::string const& path);
  /// Closes what it has open, so that the reader of a pipe sees its end. Nothing is appended from here on.
  ///
  /// Throws: as append.
  void shut();
  /// From now on all calls throw an Error for this problem, an errno, as this one does; 0: there is none.
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
  std::vector<std::size_t> ends_;  ///< Where each call's bytes end in the piece.
  std::uint64_t written_ = 0;
  int problem_ = 0;       ///< The errno of its failure. The sentence is made when it is thrown, as memory may be short.
  bool in_part_ = false;  ///< Whether its reader has a part of a record besides.
};

}  // namespace penstock
