// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/pipeline_parts.hpp"

#include <algorithm>
#include <utility>

#include "penstock/core/usual_batch.hpp"
#include "penstock/core/usual_tiles.hpp"
#include "penstock/device/device_group.hpp"

namespace penstock {
namespace {

/// What smaller ones need at least on two lanes: 64 KiB tiles, one at a time, came to 213 thousand a second, and to 178
/// with four slots (bench/lane/signal_bench).
constexpr std::size_t small_tile_slots = 32;
/// Longer than a 4 MiB tile takes to pass.
constexpr std::chrono::microseconds default_spin{200};
/// Longer than it takes at most from one tile that comes home to the next while a GPU is busy with small ones.
constexpr std::chrono::microseconds default_borrow_spin{20};
/// Large ones are further apart than a wake-up takes, so that watching longer gained nothing (decisions/0026).
constexpr std::chrono::microseconds large_tile_borrow_spin{5};

std::vector<Device*> expect_usable(std::vector<Device*> devices) {
  if (devices.empty() || std::find(devices.begin(), devices.end(), nullptr) != devices.end()) {
    throw Error(ErrorKind::bad_argument, "A pipeline needs a device: give it at least one, and no null pointer.");
  }
  return devices;
}

/// How many tiles to put on the device at once.
unsigned batch_for(PipelineOptions const& options, bool gpu, std::size_t largest_part) {
  if (!gpu) return 1;
  unsigned const batch = usual_batch(largest_part);
  return options.slots == 0 ? batch : std::clamp(options.slots / batches_in_flight, 1U, batch);
}

/// Fills in what the user left to the machine; what it could not grant goes to `remarks`.
PipelineOptions resolve(PipelineOptions options, std::vector<Device*> const& devices, Topology const& topology,
                        std::vector<std::string>& remarks) {
  for (HostStage const& stage : options.host_stages) {
    if (!stage.body) {
      throw Error(ErrorKind::bad_argument, "Host stage '" + stage.name + "' has no body: give it a function.");
    }
  }
  for (auto const& [what, asked] : {std::pair{"producers", options.producers}, std::pair{"lanes", options.lanes},
                                    std::pair{"consumers", options.consumers}}) {
    if (asked > PipelineOptions::most_threads) {
      throw Error(ErrorKind::bad_argument, "A pipeline has up to " + std::to_string(PipelineOptions::most_threads) +
                                               " " + what + ", not " + std::to_string(asked) +
                                               ": ask for about as many as there are CPUs.");
    }
  }
  if (options.ordered && options.sink_on_lanes) {
    throw Error(ErrorKind::bad_argument,
                "A sink cannot be called by the lanes and keep the source's order: choose ordered or sink_on_lanes.");
  }
  auto const cpus = static_cast<unsigned>(topology.busy_threads());
  bool const gpu = devices.front()->info().kind == DeviceKind::cuda;
  std::size_t const largest_part = std::max(options.tile.input_bytes, options.tile.output_bytes);
  if (options.lanes == 0) {
    options.lanes = static_cast<unsigned>(devices.size()) * (gpu && largest_part < large_tile ? 2 : 1);
  }
  if (options.lanes < devices.size()) {
    remarks.push_back("There are " + std::to_string(devices.size()) + " lanes and not " +
                      std::to_string(options.lanes) + ", one for each device.");
    options.lanes = static_cast<unsigned>(devices.size());
  }
  bool const batch_is_ours = options.batch == 0;
  if (batch_is_ours) options.batch = batch_for(options, gpu, largest_part);
  if (options.slots == 0) {
    std::size_t const least = gpu && largest_part < large_tile ? small_tile_slots : 0;
    options.slots = static_cast<unsigned>(
        std::min(std::max(least, std::size_t{batches_in_flight} * options.batch), Pool::max_tiles));
  }
  // Who asks for a thread that sleeps beside the lane wants the CPU, not the last microseconds.
  bool const watches = gpu && options.signal != SignalKind::event_block;
  std::chrono::microseconds const wanted = options.spin.value_or(watches ? default_spin : std::chrono::microseconds(0));
  bool const granted = wanted.count() == 0 || options.lanes + 2 <= cpus;
  if (!granted && options.spin) {
    remarks.push_back("The lanes do not spin: " + std::to_string(options.lanes) +
                      " of them would leave fewer than two of " + std::to_string(cpus) +
                      " CPUs to everything else; use fewer lanes.");
  }
  options.spin = granted ? wanted : std::chrono::microseconds(0);
  unsigned const lanes_that_spin = options.spin->count() > 0 ? options.lanes : 0;
  // One of those who wait for a tile, and the consumer that waits for results.
  constexpr unsigned watchers = 2;
  bool const may_watch = lanes_that_spin + watchers + 2 <= cpus;
  if (!options.borrow_spin) {
    auto const suits = largest_part < large_tile ? default_borrow_spin : large_tile_borrow_spin;
    options.borrow_spin = gpu && may_watch ? suits : std::chrono::microseconds(0);
  } else if (options.borrow_spin->count() > 0 && !may_watch) {
    remarks.push_back("Nobody watches for tiles: that would leave fewer than two of " + std::to_string(cpus) +
                      " CPUs to everything else" +
                      (lanes_that_spin > 0
                           ? ", since " + std::to_string(lanes_that_spin) + " lanes spin as well; use fewer lanes."
                           : "."));
    options.borrow_spin = std::chrono::microseconds(0);
  }
  if (options.consumers == 0) {
    options.consumers = options.parallel_sink || !options.host_stages.empty() ? std::max(1U, cpus / 2) : 1;
  }
  if (options.producers == 0) {
    unsigned const taken = options.lanes + options.consumers;
    options.producers = cpus > taken + 1 ? cpus - taken : 1;
  }
  if (options.tiles == 0) {
    options.tiles = usual_tiles({.lanes = options.lanes,
                                 .slots = options.slots,
                                 .batch = options.batch,
                                 .producers = options.producers,
                                 .consumers = options.consumers,
                                 .tile_bytes = Pool::slab_bytes(options.tile, 1)});
  }
  // More can never be in flight, and each takes memory of the device.
  options.slots = static_cast<unsigned>(std::min<std::size_t>(options.slots, options.tiles));
  // Of few tiles there are to be several batches as well.
  if (batch_is_ours) options.batch = std::clamp(options.slots / batches_in_flight, 1U, options.batch);
  options.batch = largest_batch(options.batch, options.slots, options.tiles, options.lanes);
  return options;
}

PlacementRequest placement_request(PipelineOptions const& options, DeviceInfo const& device) {
  PlacementRequest request;
  request.lanes = options.lanes;
  request.producers = options.producers;
  request.consumers = options.consumers;
  if (device.kind == DeviceKind::cuda || device.numa_node) {
    request.device = (device.kind == DeviceKind::cuda ? "GPU " : "CPU device ") + std::to_string(device.ordinal);
  }
  request.device_node = device.numa_node;
  request.bind = options.bind;
  return request;
}

std::vector<Placement> place_devices(std::vector<Device*> const& devices, PipelineOptions const& options,
                                     Topology const& topology) {
  std::vector<Placement> placements;
  placements.reserve(devices.size());
  for (Device* const device : devices) placements.emplace_back(topology, placement_request(options, device->info()));
  return placements;
}

PoolLayout lay_out(std::vector<Placement> const& devices, PipelineOptions const& options, Topology const& topology) {
  std::vector<std::optional<int>> nodes;
  nodes.reserve(devices.size());
  for (Placement const& device : devices) nodes.push_back(device.tile_node());
  return {nodes, options, topology};
}

/// That of all threads but the lanes.
Placement place(Device const& first, PoolLayout const& layout, PipelineOptions const& options,
                Topology const& topology) {
  PlacementRequest request = placement_request(options, first.info());
  for (std::size_t part = 1; part < layout.parts(); ++part) request.more_nodes.push_back(*layout.node(part));
  return {topology, request};
}

/// The lanes, dealt out to the devices in turn, each next to its own.
std::vector<LanePlace> lane_places(std::vector<Device*> const& devices, std::vector<Placement> const& placements,
                                   PoolLayout const& layout, PipelineOptions const& options) {
  std::vector<LanePlace> places;
  for (unsigned number = 0; number < options.lanes; ++number) {
    std::size_t const turn = number % devices.size();
    places.push_back({devices[turn], placements[turn].lane(number / devices.size()), layout.part_of_device(turn)});
  }
  return places;
}

void expect_complete(Stages const& stages, Sink const& sink) {
  if (!stages.make) {
    throw Error(ErrorKind::bad_argument,
                "There is no stage: give the pipeline one, with each_tile or stage_per_lane, say.");
  }
  if (!sink) throw Error(ErrorKind::bad_argument, "There is no sink: give the pipeline a function for completions.");
}

}  // namespace

Pipeline::Parts::Parts(std::vector<Device*> driven, PipelineOptions wanted)
    : devices(expect_usable(std::move(driven))),
      device_names(DeviceGroup(devices).names()),
      topology(Topology::detect()),
      options(resolve(std::move(wanted), devices, topology, remarks)),
      device_placements(place_devices(devices, options, topology)),
      layout(lay_out(device_placements, options, topology)),
      placement(place(*devices.front(), layout, options, topology)),
      lanes(lane_places(devices, device_placements, layout, options)),
      memory(layout, options, topology, devices),
      pool(memory.parts(), options.tile, options.borrow_spin.value_or(std::chrono::microseconds(0))),
      journeys(options.tiles) {}

std::vector<ProducerPlace> Pipeline::Parts::producers() const {
  std::vector<ProducerPlace> places;
  for (unsigned number = 0; number < options.producers; ++number) {
    places.push_back({placement.producer(number), layout.part_of_producer(number)});
  }
  return places;
}

std::shared_ptr<Run> Pipeline::Parts::open_run(Input input, Stages stages, Sink sink) {
  if (current() != nullptr) {
    throw Error(ErrorKind::bad_argument, "The pipeline is running already: drain it first, or make a second one.");
  }
  expect_complete(stages, sink);
  auto made = std::make_shared<Run>(input, open_input, pool, journeys, lanes, options, placement.consumer(0),
                                    std::move(stages), std::move(sink));
  if (input == Input::pushed) {
    made->start_graph_thread();
    fed_run.store(made.get(), std::memory_order_release);
  }
  std::scoped_lock const lock(mutex_);
  run_ = made;
  return made;
}

void Pipeline::Parts::close_run() {
  fed_run.store(nullptr, std::memory_order_release);
  // It was left by an exception: whoever waits for its tiles wakes up, and nobody feeds it any more.
  if (auto const run = current()) run->give_up();
  std::scoped_lock const lock(mutex_);
  run_ = nullptr;
}

std::shared_ptr<Run> Pipeline::Parts::current() {
  std::scoped_lock const lock(mutex_);
  return run_;
}

std::shared_ptr<Run> Pipeline::Parts::fed() {
  auto run = current();
  if (run == nullptr) {
    throw Error(ErrorKind::bad_argument, "The pipeline takes no tiles: it was not started, or was drained; start it.");
  }
  if (run->input() == Input::pulled) {
    throw Error(ErrorKind::bad_argument,
                "The pipeline is pulling a source: wait for run() to end, then start() it to feed it yourself.");
  }
  return run;
}

void Pipeline::Parts::complete(Report& report) const {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    DeviceSummary& device = report.devices.emplace_back();
    device.name = device_names[i];
    if (auto const loss = devices[i]->lost()) device.loss = loss->what();
  }
  for (std::size_t number = 0; number < report.lanes.size(); ++number) {
    LaneSummary const& lane = report.lanes[number];
    DeviceSummary& device = report.devices[number % devices.size()];  // As lane_places deals them out.
    ++device.lanes;
    device.tiles += lane.tiles;
    device.failed += lane.failed;
    if (lane.loss != nullptr && device.loss.empty()) device.loss = lane.loss->reason;
  }
  auto const of_memory = memory.remarks();
  for (auto const* some : {&remarks, &placement.remarks(), &of_memory}) {
    report.remarks.insert(report.remarks.end(), some->begin(), some->end());
  }
}

}  // namespace penstock
