// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/net/ending.hpp"
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
  /// The descriptor stays the caller's; it, `ending` and `tally` outlive this object.
  SinkWriter(WriterWords words, int descriptor, SinkOptions const& options, Ending const& ending, SinkTally& tally);

  /// Throws: Error of kind system, if not all could be written, now or before.
  void append(std::span<std::byte const> records);
  void flush();
  /// From now on all calls throw an Error for this problem, an errno, as this one does.
  [[noreturn]] void fail(int problem) { fail(problem, ""); }
  bool failed() const noexcept { return failure_.has_value(); }

 private:
  void write(std::span<std::byte const> bytes, std::span<std::size_t const> ends);
  [[noreturn]] void fail(int problem, std::string const& besides);

  WriterWords const words_;
  SinkOptions const options_;
  Ending const& ending_;
  SinkTally& tally_;
  Outlet const outlet_;
  std::vector<std::byte> piece_;
  std::vector<std::size_t> ends_;  ///< Where each call's bytes end in the piece.
  std::uint64_t written_ = 0;
  std::optional<Error> failure_;
};

}  // namespace penstock
