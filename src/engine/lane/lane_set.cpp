// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lane_set.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "engine/core/failure_text.hpp"
#include "engine/core/works_for.hpp"
#include "engine/plan/usual_sizes.hpp"

namespace penstock {
namespace {

/// Batches by which a lane may be ahead of the others and still get the neighbours of what it has.
constexpr std::size_t batches_ahead = 2;

struct Found {
  Lane* lane = nullptr;
  std::size_t tiles = std::numeric_limits<std::size_t>::max();
};

/// The lane with the fewest tiles, of equals the first from `first` on; no lane, if all are lost.
Found least_of(std::vector<Lane*> const& lanes, std::size_t first) noexcept {
  Found found;
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    Lane& lane = *lanes[(first + k) % lanes.size()];
    if (lane.lost()) continue;
    if (std::size_t const load = lane.load(); load < found.tiles) found = {&lane, load};
  }
  return found;
}

std::size_t parts_of(std::vector<LanePlace> const& places) {
  std::size_t parts = 0;
  for (LanePlace const& place : places) parts = std::max(parts, place.pool_part + 1);
  return parts;
}

}  // namespace

LaneSet::LaneSet(std::vector<LanePlace> const& places, TileShape shape, std::size_t most_tiles,
                 LaneOptions const& options, Stages const& stages, std::vector<CompletionTaker*> const& completions,
                 std::optional<CompletionFunction> function)
    : function_(std::move(function)),
      bring_tiles_(options.bringer != nullptr),
      // With fewer, larger blocks some lanes would get no block.
      batch_(largest_batch(options.batch, options.flight.slots, most_tiles, places.size())),
      near_(parts_of(places)) {
  if (places.empty()) throw Error(ErrorKind::bad_argument, "A pipeline needs at least one lane: ask for 1 or more.");
  // This comes first, because a lane that finds no place in it would end alone, and wait for the others.
  lanes_.reserve(places.size());
  failures_.reserve(2 * places.size());  // No merge is then left out for want of memory.
  try {
    make_lanes(places, shape, most_tiles, options, stages, completions);
    note_who_is_near(places);
  } catch (...) {
    close();  // They close at once, as they end together.
    throw;
  }
}

void LaneSet::make_lanes(std::vector<LanePlace> const& places, TileShape shape, std::size_t most_tiles,
                         LaneOptions const& options, Stages const& stages,
                         std::vector<CompletionTaker*> const& completions) {
  std::map<Device const*, std::shared_ptr<EndLatch>> ends;
  for (unsigned number = 0; number < places.size(); ++number) {
    LaneOptions own = options;
    if (own.batch > 0) own.batch = static_cast<unsigned>(batch_);
    auto& end = ends[places[number].device];
    if (end == nullptr) end = std::make_shared<EndLatch>();
    own.ends_with = end;
    own.name = "ps-lane-" + std::to_string(number);
    own.cpus = places[number].cpus;
    lanes_.push_back(std::make_unique<Lane>(*places[number].device, shape, most_tiles, std::move(own), number, stages,
                                            completions.empty() ? *function_ : *completions[number]));
  }
}

void LaneSet::note_who_is_near(std::vector<LanePlace> const& places) {
  for (std::size_t number = 0; number < lanes_.size(); ++number) {
    all_.push_back(lanes_[number].get());
    near_[places[number].pool_part].lanes.push_back(all_.back());
  }
  for (Near& near : near_) {
    if (near.lanes.empty()) near.lanes = all_;
  }
}

LaneSet::~LaneSet() {
  cancel();
  close();  // They close at once, as they end together.
}

Lane* LaneSet::lane_of_this_thread() const noexcept {
  auto const own = std::ranges::find_if(all_, [](Lane const* lane) { return lane->is_this_thread(); });
  return own != all_.end() ? *own : nullptr;
}

bool LaneSet::submit(Loan& loan) noexcept {
  if (lanes_.size() == 1) return lanes_.front()->submit(loan);
  if (Lane* const own = bring_tiles_ ? lane_of_this_thread() : nullptr) return own->submit(loan);
  Near& near = near_[std::min(loan->pool_part(), near_.size() - 1)];
  bool const batches = batch_ > 1;
  std::size_t const first = batches ? loan->index() / batch_ : near.turn.fetch_add(1, std::memory_order_relaxed);
  Lane& preferred = *near.lanes[first % near.lanes.size()];
  Found const nearest = least_of(near.lanes, first);
  Found const least = near_.size() > 1 ? least_of(all_, first) : nearest;
  // If every device is lost, any lane will do: it completes the tile as failed.
  if (least.lane == nullptr) return preferred.submit(loan);
  // The preferred lane does not come first while another lane has nothing to do.
  std::size_t const most = least.tiles + std::min(least.tiles, batches_ahead * batch_);
  if (batches && !preferred.lost() && preferred.load() <= most) return preferred.submit(loan);
  return (nearest.lane != nullptr && nearest.tiles <= most ? nearest : least).lane->submit(loan);
}

bool LaneSet::lost() const noexcept {
  // A lane without a tile does not learn that another lane has abandoned their device.
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](auto const& lane) { return lane->lost() || lane->device().abandoned(); });
}

void LaneSet::wake() noexcept {
  for (auto const& lane : lanes_) lane->wake();
}

void LaneSet::cancel() noexcept {
  for (auto const& lane : lanes_) lane->cancel();
}

void LaneSet::flush() noexcept {
  for (auto const& lane : lanes_) lane->flush();
}

void LaneSet::close() {
  // All stop at once, so that their stages finish side by side.
  for (auto const& lane : lanes_) lane->stop_taking();
  for (auto const& lane : lanes_) lane->close();
}

void LaneSet::end_but_for_this_thread() noexcept {
  for (auto const& lane : lanes_) {
    lane->stop_taking();
    if (WorksFor::here(&lane->device())) lane->abandon_device();
  }
  // A lane may stand in the source for ever, say because this thread is in the source's `next`. The lanes of its device
  // wait for it at their ends, as for that of this thread.
  auto const stays = [](auto const& lane) { return lane->is_this_thread() || lane->left_behind(); };
  for (auto const& lane : lanes_) {
    if (!lane->is_this_thread()) lane->leave_behind();
  }
  for (auto const& lane : lanes_) {
    if (stays(lane)) continue;
    bool const waits = std::ranges::any_of(
        lanes_, [&](auto const& other) { return stays(other) && &other->device() == &lane->device(); });
    lane->await(waits ? LaneAge::idle : LaneAge::ended);
  }
}

std::vector<std::shared_ptr<Failure const>> LaneSet::merge(Stages const& stages) {
  for (auto const& lane : lanes_) {
    if (auto failure = lane->finish_failure()) failures_.push_back(std::move(failure));
    Stage* const stage = lane->finished_stage();
    if (stage == nullptr || !stages.merge) continue;
    try {
      stages.merge(*stage);
    } catch (...) {
      failures_.push_back(current_failure("merge", ErrorKind::bad_argument));
    }
  }
  return std::move(failures_);
}

bool LaneSet::is_thread_of_a_device() const noexcept {
  return std::ranges::any_of(lanes_, [](auto const& lane) { return WorksFor::here(&lane->device()); });
}

std::vector<LaneSnapshot> LaneSet::snapshots() const {
  std::vector<LaneSnapshot> all;
  for (auto const& lane : lanes_) all.push_back(lane->snapshot());
  return all;
}

std::vector<LaneSummary> LaneSet::summaries() const {
  std::vector<LaneSummary> all;
  for (auto const& lane : lanes_) all.push_back(lane->summary());
  return all;
}

std::vector<CpuSet> LaneSet::bound_to() const {
  std::vector<CpuSet> all;
  for (auto const& lane : lanes_) all.push_back(lane->bound_to());
  return all;
}

std::vector<std::string> LaneSet::remarks() const {
  std::vector<std::string> all;
  for (auto const& lane : lanes_) {
    if (lane->binding_error()) all.push_back(*lane->binding_error());
  }
  // The reason is mostly the same for every lane.
  for (auto const& lane : lanes_) {
    auto const why = lane->summary().not_captured;
    if (why == nullptr) continue;
    all.push_back("The stage promises to be capturable, but was launched call by call: " + why->reason);
    break;
  }
  return all;
}

}  // namespace penstock
