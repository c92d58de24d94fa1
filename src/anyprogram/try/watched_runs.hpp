// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "anyprogram/watched/hazards.hpp"
#include "anyprogram/whole_programs/whole_comparison.hpp"

namespace penstock::cli {

/// Findings from one watched run of each way: how long the device was busy, and what only the legacy default stream
/// keeps in order. A run that cannot be watched leads to a remark and nothing more.
///
/// Threads: one.
class WatchedRuns {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  /// Runs the program once, with these variables set.
  using RunOnce = std::function<ProgramEnd(Variables const&)>;

  /// Watches one run. `variables` are those of its way, and `before` is its end without being watched.
  ///
  /// Returns: whether it could be watched.
  bool watch(Contender contender, Variables variables, ProgramEnd const& before, RunOnce const& run);
  /// Takes a sentence on why there are fewer results.
  void remark(std::string sentence) { remarks_.push_back(std::move(sentence)); }

  /// Adds what was seen to a comparison.
  void tell(WholeComparison& compared) const;
  std::vector<std::string> const& remarks() const noexcept { return remarks_; }
  /// Operations that only the legacy default stream keeps in order, in lines; the remarks behind them.
  std::string as_text() const;
  /// The member `watched` of docs/commands/try.md.
  nlohmann::ordered_json as_json() const;

 private:
  /// Findings in one process.
  struct Found {
    nlohmann::ordered_json json;
    std::string text;
  };
  void look_for_hazards(WatchLog const& log);

  double gpu_[2] = {-1, -1};  ///< Seconds, by Contender; below 0: not known.
  bool order_known_ = false;
  std::vector<Found> found_;
  std::uint64_t pairs_ = 0;
  std::uint64_t launches_ = 0;
  std::uint64_t launches_and_copies_ = 0;
  std::string first_pair_;
  std::vector<std::string> remarks_;
};

}  // namespace penstock::cli
