// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lane_set.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "penstock/core/current_failure.hpp"
#include "penstock/core/usual_batch.hpp"

namespace penstock {
namespace {

/// How far a lane may be ahead of the others and still get the neighbours of what it has.
constexpr std::size_t batches_ahead = 2;

}  // namespace

LaneSet::LaneSet(std::vector<LanePlace> const& places, TileShape shape, std::size_t most_tiles,
                 LaneOptions const& options, Stages const& stages, Lane::OnCompletion const& on_completion)
    // With fewer, larger blocks some lanes would get none of them.
    : batch_(largest_batch(options.batch, options.flight.slots, most_tiles, places.size())) {
  if (places.empty()) throw Error(ErrorKind::bad_argument, "A pipeline needs at least one lane: ask for 1 or more.");
  std::map<Device const*, std::shared_ptr<EndLatch>> ends;
  for (unsigned number = 0; number < places.size(); ++number) {
    LaneOptions own = options;
    if (own.batch > 0) own.batch = static_cast<unsigned>(batch_);
    auto& end = ends[places[number].device];
    if (end == nullptr) end = std::make_shared<EndLatch>();
    own.ends_with = end;
    own.name = "ps-lane-" + std::to_string(number);
    own.cpus = places[number].cpus;
    try {
      lanes_.push_back(std::make_unique<Lane>(*places[number].device, shape, most_tiles, std::move(own), number, stages,
                                              on_completion));
    } catch (...) {
      close();  // All at once, as they end together.
      throw;
    }
  }
}

LaneSet::~LaneSet() {
  cancel();
  close();  // All at once, as they end together.
}

bool LaneSet::submit(Loan& loan) noexcept {
  bool const batches = batch_ > 1;
  std::size_t const first = batches ? loan->index() / batch_ : turn_.fetch_add(1, std::memory_order_relaxed);
  Lane& preferred = *lanes_[first % lanes_.size()];
  Lane* chosen = nullptr;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (std::size_t k = 0; k < lanes_.size(); ++k) {
    Lane& lane = *lanes_[(first + k) % lanes_.size()];
    if (lane.lost()) continue;
    if (std::size_t const load = lane.load(); load < least) {
      least = load;
      chosen = &lane;
    }
  }
  // With every device lost any lane will do: it completes the tile as failed.
  if (chosen == nullptr) chosen = &preferred;
  // Not while another has nothing to do.
  if (batches && !preferred.lost() && preferred.load() <= least + std::min(least, batches_ahead * batch_)) {
    chosen = &preferred;
  }
  return chosen->submit(loan);
}

bool LaneSet::lost() const noexcept {
  return std::all_of(lanes_.begin(), lanes_.end(), [](auto const& lane) { return lane->lost(); });
}

void LaneSet::cancel() noexcept {
  for (auto const& lane : lanes_) lane->cancel();
}

void LaneSet::hurry() noexcept {
  for (auto const& lane : lanes_) lane->hurry();
}

void LaneSet::close() {
  // All at once, so that their stages finish side by side.
  for (auto const& lane : lanes_) lane->stop_taking();
  for (auto const& lane : lanes_) lane->close();
}

std::vector<std::shared_ptr<Failure const>> LaneSet::merge(Stages const& stages) {
  std::vector<std::shared_ptr<Failure const>> failures;
  for (auto const& lane : lanes_) {
    if (auto failure = lane->finish_failure()) failures.push_back(std::move(failure));
    Stage* const stage = lane->finished_stage();
    if (stage == nullptr || !stages.merge) continue;
    try {
      stages.merge(*stage);
    } catch (...) {
      failures.push_back(current_failure("merge", ErrorKind::bad_argument));
    }
  }
  return failures;
}

std::vector<LaneSummary> LaneSet::summaries() const {
  std::vector<LaneSummary> all;
  for (auto const& lane : lanes_) all.push_back(lane->summary());
  return all;
}

std::vector<std::string> LaneSet::remarks() const {
  std::vector<std::string> all;
  for (auto const& lane : lanes_) {
    if (lane->binding_error()) all.push_back(*lane->binding_error());
  }
  // Mostly the same of every lane.
  for (auto const& lane : lanes_) {
    auto const why = lane->summary().not_captured;
    if (why == nullptr) continue;
    all.push_back("The stage promises to be capturable, but was launched call by call: " + why->reason);
    break;
  }
  return all;
}

}  // namespace penstock
