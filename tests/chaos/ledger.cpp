// SPDX-License-Identifier: Apache-2.0
#include "chaos/ledger.hpp"

#include <vector>

#include "engine/core/pool.hpp"

namespace penstock::chaos {

void Ledger::submitted(std::uint64_t tag) {
  std::scoped_lock const lock(mutex_);
  case_.expect(submitted_.insert(tag).second, "the scenario itself submitted tag " + std::to_string(tag) + " twice");
}

void Ledger::completed(Completion const& completion) {
  Tile const& tile = *completion.loan;
  bool const content_right =
      !completion.ok() || (tile.produced == tile.filled && has_content(tile.tag, tile.produced_output(), rules_.added));
  std::scoped_lock const lock(mutex_);
  case_.note(tile.tag);
  case_.note(tile.sequence << 2 | static_cast<std::uint64_t>(completion.outcome));
  std::string const name = "tile " + std::to_string(tile.sequence) + ", tag " + std::to_string(tile.tag);
  case_.expect(tags_.insert(tile.tag).second, name + ": its tag has two completions");
  case_.expect(sequences_.insert(tile.sequence).second, name + ": its sequence has two completions");
  case_.expect(content_right, name + ": its bytes are wrong");
  case_.expect((completion.outcome == Outcome::failed) == (completion.failure != nullptr),
               name + ": its failure does not fit its outcome");
  case_.expect(!rules_.all_done || completion.ok(),
               name + ": is not done: " + (completion.failure ? completion.failure->reason : "cancelled"));
  if (rules_.ordered) case_.expect(tile.sequence == next_, name + ": is out of order");
  next_ = tile.sequence + 1;
  switch (completion.outcome) {
    case Outcome::done:
      ++done_;
      bytes_in_ += tile.filled;
      bytes_out_ += tile.produced;
      break;
    case Outcome::failed:
      ++failed_;
      break;
    case Outcome::cancelled:
      ++cancelled_;
      break;
  }
}

void Ledger::sink_threw() {
  std::scoped_lock const lock(mutex_);
  ++sink_failures_;
}

std::uint64_t Ledger::completions() {
  std::scoped_lock const lock(mutex_);
  return tags_.size();
}

void Ledger::close() {
  std::scoped_lock const lock(mutex_);
  case_.expect(tags_ == submitted_, std::to_string(submitted_.size()) + " tiles were submitted, but " +
                                        std::to_string(tags_.size()) + " have a completion");
  case_.expect(sequences_.empty() || *sequences_.rbegin() + 1 == sequences_.size(), "the sequences have gaps");
}

void Ledger::close(Report const& report) {
  close();
  std::scoped_lock const lock(mutex_);
  auto const same = [&](char const* what, std::uint64_t reported, std::uint64_t seen) {
    case_.expect(reported == seen, std::string("the report says ") + what + " = " + std::to_string(reported) +
                                       ", the sink saw " + std::to_string(seen));
  };
  same("done", report.tiles_done, done_);
  same("failed", report.tiles_failed, failed_);
  same("cancelled", report.tiles_cancelled, cancelled_);
  same("sink failures", report.sink_failures, sink_failures_);
  same("bytes in", report.bytes_in, bytes_in_);
  same("bytes out", report.bytes_out, bytes_out_);
}

void expect_tiles_home(Case& the_case, Pool& pool) {
  the_case.expect(pool.on_loan() == 0, std::to_string(pool.on_loan()) + " tiles are on loan at the end");
  the_case.expect(pool.waiting() == 0 && !pool.watched(), "a borrower is counted as waiting at the end");
  std::vector<Loan> home;
  while (auto loan = pool.try_borrow()) home.push_back(std::move(*loan));
  the_case.expect(home.size() + pool.stranded() == pool.size(), std::to_string(home.size()) + " tiles are home and " +
                                                                    std::to_string(pool.stranded()) + " stranded of " +
                                                                    std::to_string(pool.size()));
}

}  // namespace penstock::chaos
