// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/lease_source.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lease/lease_keeper.hpp"
#include "lease/opened_lease.hpp"

#include "engine/core/failure_text.hpp"
#include "engine/core/number_text.hpp"
#include "engine/core/of_tiles.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/pool.hpp"
#include "engine/core/say.hpp"

namespace penstock {

class LeaseSource::Parts {
 public:
  Parts(std::unique_ptr<LeaseSupply> supply, Pool const& pool, LeaseSink& sink, LeaseSourceOptions options)
      : options_(as_many_as_tiles(std::move(options), pool)), sink_(sink), keeper_(std::move(supply), options_) {
    parts_.add(pool);
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts() {
    try {
      finish(nullptr);
    } catch (std::exception const& failure) {
      say("%s", failure.what());
    }
  }

  bool next(Tile& tile) {
    for (;;) {
      if (cut_ == nullptr) {
        auto lease = keeper_.next();
        if (!lease) return false;
        cut_ = std::make_shared<OpenedLease>(*std::move(lease), options_);
        std::lock_guard const lock(mutex_);
        opened_.insert_or_assign(cut_->lease().number, cut_);
      }
      if (auto const piece = cut_->cut(tile.input().size())) {
        parts_.of(tile) = {cut_, *piece};
        return true;
      }
      // Its last tile may have come back before it was known to be the last.
      settle_if_it_ends(*std::exchange(cut_, nullptr));
    }
  }

  std::size_t fill(Tile& tile) {
    Part const& part = parts_.of(tile);
    try {
      part.of->read(part.piece, tile.input());
    } catch (WorkerUnable const& unable) {
      part.of->is_blameless();
      end_input(unable);
      throw;
    }
    return part.piece.bytes;
  }

  void take(Completion& completion) {
    Part const part = std::exchange(parts_.of(*completion.loan), {});
    keeper_.moved();
    OpenedLease& opened = *part.of;
    if (!completion.ok()) {
      bool const lost = completion.failure != nullptr && completion.failure->kind == ErrorKind::device_lost;
      opened.came_back(completion);
      if (lost) keeper_.stop_taking();
      settle_if_it_ends(opened);
      return;
    }
    try {
      sink_.take(completion, {opened.lease(), part.piece.offset});
    } catch (WorkerUnable const& unable) {
      opened.is_blameless();
      end_input(unable);
      opened.came_back_unusable(unable.what());
      settle_if_it_ends(opened);
      throw;
    } catch (std::exception const& failure) {
      opened.came_back_unusable(failure_text(failure));
      settle_if_it_ends(opened);
      throw;
    } catch (...) {
      opened.came_back_unusable("The sink threw something that is no exception.");
      settle_if_it_ends(opened);
      throw;
    }
    opened.came_back_done();
    settle_if_it_ends(opened);
  }

  void settle(Settlement settlement) {
    {
      std::lock_guard const lock(mutex_);
      auto const found = opened_.find(settlement.number);
      if (found != opened_.end() && found->second->lease().tries == settlement.tries) opened_.erase(found);
    }
    keeper_.settle(std::move(settlement));
  }

  /// `found` may be null.
  void finish(Attribution const* found) {
    settle_suspects(found);
    std::exception_ptr problem;
    try {
      keeper_.finish();
    } catch (...) {
      problem = std::current_exception();
    }
    std::lock_guard const lock(mutex_);
    for (auto const& [number, opened] : std::exchange(opened_, {})) sink_.forget(opened->lease());
    auto const unable = std::exchange(unable_, std::nullopt);
    if (problem != nullptr) std::rethrow_exception(problem);
    if (unable) throw WorkerUnable(*unable);
  }

  LeaseKeeper const& keeper() const noexcept { return keeper_; }

  OwnProcess const process;

 private:
  struct Part {
    std::shared_ptr<OpenedLease> of = {};
    OpenedLease::Piece piece = {};
  };

  void end_input(WorkerUnable const& unable) {
    keeper_.stop_taking();
    std::lock_guard const lock(mutex_);
    if (!unable_) unable_ = unable.what();
  }

  /// Each lease has a tile at least, so more would only be kept from other owners.
  static LeaseSourceOptions as_many_as_tiles(LeaseSourceOptions options, Pool const& pool) {
    options.leases = std::min(options.leases, pool.size());
    return options;
  }

  /// Those that no lost tile proves guilty are given back, or fail for what their other tiles failed for.
  void settle_suspects(Attribution const* found) {
    std::vector<std::shared_ptr<OpenedLease>> suspects;
    {
      std::lock_guard const lock(mutex_);
      for (auto const& [number, opened] : opened_)
        if (opened->is_suspect()) suspects.push_back(opened);
    }
    for (auto const& opened : suspects) {
      Settlement settlement = opened->settlement(found);
      sink_.forget(opened->lease());
      settle(std::move(settlement));
    }
  }

  void settle_if_it_ends(OpenedLease& opened) {
    // The end of the run says which tile it was.
    if (!opened.ends() || opened.is_suspect()) return;
    Settlement settlement = opened.settlement();
    // Of a try that was lost meanwhile there is no answer.
    if (settlement.kind == Settlement::Kind::acknowledge && keeper_.holds(opened.lease())) {
      try {
        auto answer = sink_.answer(opened.lease());
        if (!answer) return;
        settlement.text = *std::move(answer);
        settle(std::move(settlement));
        return;
      } catch (WorkerUnable const& unable) {
        end_input(unable);
        settlement.kind = Settlement::Kind::give_back;
      } catch (std::exception const& failure) {
        settlement.kind = Settlement::Kind::fail;
        settlement.text = "at sink: " + failure_text(failure);
      } catch (...) {
        settlement.kind = Settlement::Kind::fail;
        settlement.text = "at sink: The sink threw something that is no exception.";
      }
    }
    sink_.forget(opened.lease());
    settle(std::move(settlement));
  }

  LeaseSourceOptions const options_;
  LeaseSink& sink_;
  LeaseKeeper keeper_;
  OfTiles<Part, 1> parts_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<OpenedLease>> opened_;  ///< Those that are not settled, by number.
  std::optional<std::string> unable_;                             ///< What ended the input.
  std::shared_ptr<OpenedLease> cut_;                              ///< The lease that is being cut; null between two.
};

namespace {

void check_tiles(Pool const& pool) {
  if (pool.shape().input_bytes == 0)
    throw Error(ErrorKind::bad_argument,
                "Leases are read into the input of tiles, and these have none. Give them some.");
}

}  // namespace

LeaseSource::LeaseSource(Ledger& ledger, Pool const& pool, LeaseSink& sink, LeaseSourceOptions options) {
  check_tiles(pool);
  parts_ = std::make_unique<Parts>(ledger.join(options.owner), pool, sink, std::move(options));
}

LeaseSource::LeaseSource(std::unique_ptr<LeaseSupply> supply, Pool const& pool, LeaseSink& sink,
                         LeaseSourceOptions options) {
  check_tiles(pool);
  options.owner.silence = supply->silence();
  parts_ = std::make_unique<Parts>(std::move(supply), pool, sink, std::move(options));
}

LeaseSource::~LeaseSource() {
  left_to_parent(parts_);
}

Sink LeaseSource::sink() {
  return [parts = parts_.get()](Completion& completion) { parts->take(completion); };
}

void LeaseSource::acknowledge(Lease const& lease, std::string answer) {
  parts_->settle({.number = lease.number, .tries = lease.tries, .text = std::move(answer)});
}

void LeaseSource::fail(Lease const& lease, std::string reason) {
  parts_->settle(
      {.kind = Settlement::Kind::fail, .number = lease.number, .tries = lease.tries, .text = std::move(reason)});
}

void LeaseSource::finish() {
  parts_->finish(nullptr);
}

void LeaseSource::finish(Report const& report) {
  parts_->finish(report.attribution.get());
}

LeaseCounts LeaseSource::counts() const {
  return parts_->keeper().counts();
}

bool LeaseSource::next(Tile& tile) {
  return parts_->next(tile);
}

std::size_t LeaseSource::fill(Tile& tile) {
  return parts_->fill(tile);
}

std::vector<std::string> LeaseSource::remarks() const {
  LeaseCounts const counts = parts_->keeper().counts();
  if (counts.refused == 0) return {};
  return {count_text(counts.refused, "settlement") +
          " came too late, as another had the lease by then. The first: " + parts_->keeper().refusal()};
}

}  // namespace penstock
