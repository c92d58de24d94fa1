// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "chaos/chaos_case.hpp"

#include "engine/core/pool.hpp"
#include "penstock/report.hpp"
#include "penstock/tile.hpp"

namespace penstock::chaos {

/// Input of one run and what came of it, and the laws that both must keep.
///
/// Threads: any, but for `close`.
class Ledger {
 public:
  struct Rules {
    bool ordered = false;
    bool all_done = true;  ///< Nothing fails and nothing is cancelled.
    unsigned added = 1;    ///< Number that the stages add to each byte.
  };
  Ledger(Case& the_case, Rules rules) : case_(the_case), rules_(rules) {}

  /// A tile with this tag was submitted.
  void submitted(std::uint64_t tag);
  /// Call it before the loan of a completion dies.
  void completed(Completion const& completion);
  void sink_threw();
  std::uint64_t completions();
  /// Expects that each that was submitted has one completion, and that the report says the same.
  void close(Report const& report);
  /// Expects that each that was submitted has one completion, where there is no report.
  void close();

 private:
  Case& case_;
  Rules const rules_;
  std::mutex mutex_;
  std::set<std::uint64_t> submitted_;
  std::set<std::uint64_t> tags_, sequences_;
  std::uint64_t next_ = 0;
  std::uint64_t done_ = 0, failed_ = 0, cancelled_ = 0, sink_failures_ = 0;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
};

/// Expects, once nothing is under way, that each tile of the pool is home, or stranded.
void expect_tiles_home(Case& the_case, Pool& pool);

}  // namespace penstock::chaos
