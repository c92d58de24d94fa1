// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/plan/placement.hpp"
#include "engine/plan/resolve_options.hpp"
#include "engine/plan/tile_count.hpp"

namespace penstock {
namespace {

/// The placement of all threads but the lanes.
Placement place_others(Device const& first, PoolLayout const& layout, PipelineOptions const& options,
                       Topology const& topology) {
  PlacementRequest request = placement_request(options, first.info());
  for (std::size_t part = 1; part < layout.parts(); ++part) request.more_nodes.push_back(*layout.node(part));
  return {topology, request};
}

/// Gives threads one CPU each, of those that a thread may run on the one with the fewest of these threads; of several
/// the one with the fewest lanes, and then the first, since most systems number one CPU of each core before the others.
class Seats {
 public:
  CpuSet take(CpuSet const& near, bool lane = false) {
    if (near.empty()) return near;
    int const cpu = *std::ranges::min_element(near, {}, [&](int one) { return seats_[one]; });
    auto& [threads, lanes] = seats_[cpu];
    ++threads;
    if (lane) ++lanes;
    return {cpu};
  }

 private:
  std::map<int, std::pair<unsigned, unsigned>> seats_;  ///< For each CPU: threads that have it, and lanes among them.
};

std::vector<LanePlace> lane_places(std::vector<Device*> const& devices, std::vector<Placement> const& placements,
                                   PoolLayout const& layout, PipelineOptions const& options) {
  std::vector<LanePlace> places;
  for (unsigned number = 0; number < options.lanes; ++number) {
    std::size_t const turn = number % devices.size();
    places.push_back({devices[turn], placements[turn].lane(number / devices.size()), layout.part_of_device(turn)});
  }
  return places;
}

std::vector<ProducerPlace> producer_places(std::vector<LanePlace> const& lanes, Placement const& others,
                                           PoolLayout const& layout, PipelineOptions const& options) {
  std::vector<ProducerPlace> places;
  if (options.tuning.run_to_completion) {
    for (LanePlace const& lane : lanes) places.push_back({lane.cpus, lane.pool_part});
    return places;
  }
  for (unsigned number = 0; number < options.producers; ++number) {
    places.push_back({others.producer(number), layout.part_of_producer(number)});
  }
  return places;
}

}  // namespace

Plan plan(PipelineOptions const& asked, std::vector<Device*> const& devices, Topology const& topology,
          AwakeThreads const& elsewhere) {
  std::vector<std::string> remarks;
  PipelineOptions options = resolve(asked, devices, topology, remarks, elsewhere);
  std::vector<Placement> const placements = place_devices(devices, options, topology);
  PoolLayout layout = lay_out(placements, options, topology);
  Placement const others = place_others(*devices.front(), layout, options, topology);

  std::vector<LanePlace> lanes = lane_places(devices, placements, layout, options);
  Seats seats;
  bool const each_on_one = options.tuning.bind == Bind::cpu;
  for (LanePlace& lane : lanes) {
    if (each_on_one) lane.cpus = seats.take(lane.cpus, true);
  }
  std::vector<ProducerPlace> producers = producer_places(lanes, others, layout, options);
  for (ProducerPlace& producer : producers) {
    if (each_on_one && !options.tuning.run_to_completion) producer.cpus = seats.take(producer.cpus);
  }
  std::vector<CpuSet> consumers;
  for (unsigned number = 0; number < options.consumers; ++number) {
    consumers.push_back(each_on_one ? seats.take(others.consumer(number)) : others.consumer(number));
  }
  std::size_t const reserve = reserve_tiles(asked, options, devices);
  AwakeThreads awake = SpinRoom(devices, options, topology).taken(awake_of(options));
  return {.options = std::move(options),
          .layout = std::move(layout),
          .lanes = std::move(lanes),
          .producers = std::move(producers),
          .consumers = std::move(consumers),
          .reserve = reserve,
          .cpus = static_cast<unsigned>(threads_at_once(devices.front()->info(), topology)),
          .awake = std::move(awake),
          .remarks = std::move(remarks),
          .place_remarks = others.remarks()};
}

}  // namespace penstock
