// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/repeated_source.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// A job's stage, which gets the places of tiles in their pass.
class StageOfPass final : public Stage {
 public:
  StageOfPass(RepeatedSource const& source, std::unique_ptr<Stage> stage) : source_(source), stage_(std::move(stage)) {
    if (stage_ == nullptr) throw Error(ErrorKind::bad_argument, "The job made no stage: Stages::make gave a null one.");
  }

  void prepare(StreamRef stream) override { stage_->prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    std::uint64_t const place = source_.place_of(tile.sequence);
    if (place == tile.sequence) return stage_->run(tile, stream);
    DeviceTile seen = tile;
    seen.sequence = place;
    return stage_->run(seen, stream);
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    std::uint64_t const before = tiles.front().sequence - source_.place_of(tiles.front().sequence);
    for (DeviceTile const& tile : tiles.subspan(1)) {
      // No stage may take tiles of two passes for neighbours.
      if (tile.sequence - source_.place_of(tile.sequence) != before) return false;
    }
    if (before == 0) return stage_->run_batch(tiles, produced, stream);
    seen_.assign(tiles.begin(), tiles.end());
    for (DeviceTile& tile : seen_) tile.sequence -= before;
    return stage_->run_batch(seen_, produced, stream);
  }
  Promises promises() const noexcept override { return stage_->promises(); }
  std::uint64_t variant(DeviceTile const& tile) const override {
    DeviceTile seen = tile;
    seen.sequence = source_.place_of(tile.sequence);
    return stage_->variant(seen);
  }
  void finish(StreamRef stream) override { stage_->finish(stream); }
  Stage& stage() const noexcept { return *stage_; }

 private:
  RepeatedSource const& source_;
  std::unique_ptr<Stage> const stage_;
  std::vector<DeviceTile> seen_;
};

}  // namespace

RepeatedSource::RepeatedSource(Make make, Pool const& pool)
    : make_(std::move(make)), pool_(pool), of_tile_(pool.size()) {
  begin(0);
}

void RepeatedSource::begin(std::uint64_t start) {
  auto source = make_(pool_);
  if (source == nullptr)
    throw Error(ErrorKind::bad_argument, "The job made no source: JobWork::source gave a null one.");
  refer(now_, std::make_shared<Pass>(Pass{start, std::move(source)}));
  {
    std::scoped_lock const lock(mutex_);
    starts_.push_back(start);
  }
  // A thread that has a tile of this pass got it after this store.
  latest_start_.store(start, std::memory_order_release);
}

void RepeatedSource::refer(std::shared_ptr<Pass>& reference, std::shared_ptr<Pass> pass) {
  if (reference.use_count() == 1) {
    if (left_out_.empty()) left_out_ = reference->source->left_out();
    if (remarks_.empty()) remarks_ = reference->source->remarks();
  }
  reference = std::move(pass);
}

template <class All>
All RepeatedSource::of_a_pass(All const& of_one_over, All (Source::*ask)() const) const {
  if (!of_one_over.empty()) return of_one_over;
  for (auto const& pass : of_tile_) {
    if (pass == nullptr) continue;
    if (All all = (*pass->source.*ask)(); !all.empty()) return all;
  }
  return (*now_->source.*ask)();
}

std::vector<LeftOut> RepeatedSource::left_out() const {
  return of_a_pass(left_out_, &Source::left_out);
}

std::vector<std::string> RepeatedSource::remarks() const {
  return of_a_pass(remarks_, &Source::remarks);
}

bool RepeatedSource::next(Tile& tile) {
  std::uint64_t const sequence = tile.sequence;
  for (;;) {
    tile.sequence = sequence - now_->start;
    bool const more = now_->source->next(tile);
    tile.sequence = sequence;
    if (more) {
      auto& pass = of_tile_[tile.index()];
      if (pass != now_) refer(pass, now_);
      return true;
    }
    if (now_->start == sequence) return false;
    begin(sequence);
  }
}

std::size_t RepeatedSource::fill(Tile& tile) {
  Pass const& pass = *of_tile_[tile.index()];
  std::uint64_t const sequence = tile.sequence;
  tile.sequence -= pass.start;
  std::size_t const filled = pass.source->fill(tile);
  tile.sequence = sequence;
  return filled;
}

std::uint64_t RepeatedSource::place_of(std::uint64_t sequence) const {
  std::uint64_t const latest = latest_start_.load(std::memory_order_acquire);
  if (sequence >= latest) return sequence - latest;
  std::scoped_lock const lock(mutex_);
  return sequence - *(std::ranges::upper_bound(starts_, sequence) - 1);
}

Stages RepeatedSource::seen_by(Stages stages) const {
  auto const make = std::exchange(stages.make, {});
  auto const merge = std::exchange(stages.merge, {});
  Stages seen = std::move(stages);
  if (make) {
    seen.make = [this, make](StageContext const& context) {
      return std::make_unique<StageOfPass>(*this, make(context));
    };
  }
  if (merge) seen.merge = [merge](Stage& stage) { merge(static_cast<StageOfPass&>(stage).stage()); };
  return seen;
}

}  // namespace penstock::measure
