// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "penstock/graph.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

/// The pipeline to which tiles of messages go home, and a function that is called when one does.
///
/// Threads: any.
class TilesHome {
 public:
  TilesHome(DeviceGroup const& devices, PipelineOptions options) : pipeline(devices, std::move(options)) {}
  /// `told` is called whenever a tile comes home; it does not throw. Null: no function is called.
  ///
  /// Blocks: until no thread is in the one before.
  void tell(std::function<void()> told);
  void tile_came() noexcept;

  Pipeline pipeline;

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  std::function<void()> told_;
  std::size_t inside_ = 0;  ///< Threads that are telling.
};

/// A loan that several groups have.
struct SharedLoan {
  SharedLoan(std::shared_ptr<TilesHome> its_home, Loan its) noexcept
      : home(std::move(its_home)), loan(std::move(its)) {}
  SharedLoan(SharedLoan const&) = delete;
  SharedLoan& operator=(SharedLoan const&) = delete;
  ~SharedLoan() {
    loan.give_back();
    home->tile_came();
  }
  std::shared_ptr<TilesHome> const home;
  Loan loan;
};

/// A tile of a group, with the outcome that it had when the group was made.
class TileOfGroup {
 public:
  /// A tile that has no outcome yet.
  explicit TileOfGroup(std::shared_ptr<SharedLoan> shared) noexcept
      : shared_(std::move(shared)), completion_{Loan::resume(&*shared_->loan), Outcome::done, nullptr} {}
  TileOfGroup(TileOfGroup&&) noexcept = default;
  TileOfGroup& operator=(TileOfGroup&&) = delete;
  TileOfGroup(TileOfGroup const& other) : TileOfGroup(other.shared_) {
    completion_.outcome = other.completion_.outcome;
    completion_.failure = other.completion_.failure;
  }
  /// The loan of `shared_` alone brings the tile home.
  ~TileOfGroup() { static_cast<void>(completion_.loan.release()); }

  std::shared_ptr<SharedLoan> const& shared() const noexcept { return shared_; }
  Completion& completion() noexcept { return completion_; }

 private:
  std::shared_ptr<SharedLoan> shared_;
  Completion completion_;
};

/// State that the copies of a group share.
struct TileGroup::State {
  /// Counts one more copy, and passes on what was written to the tiles until now: oneTBB copies a message for the node
  /// that gets it.
  void add_holder() noexcept { holders.fetch_add(1, std::memory_order_acq_rel); }
  /// True if that was the last copy.
  bool remove_holder() noexcept { return holders.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// After this, all that was written to the tiles before the message was copied is seen.
  void take() const noexcept { static_cast<void>(holders.load(std::memory_order_acquire)); }

  std::atomic<std::uint32_t> holders{1};
  std::vector<TileOfGroup> tiles = {};
};

}  // namespace penstock
