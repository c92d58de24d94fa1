// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/pipeline.hpp"

#include <algorithm>
#include <mutex>
#include <string>

#include "penstock/flow/producers.hpp"
#include "penstock/flow/run.hpp"
#include "penstock/machine/placement.hpp"
#include "penstock/machine/slab.hpp"
#include "penstock/machine/topology.hpp"

namespace penstock {
namespace {

/// Fills in what the user left to the machine.
PipelineOptions resolve(PipelineOptions options, std::vector<Device*> const& devices, Topology const& topology) {
  auto const cpus = static_cast<unsigned>(topology.busy_threads());
  bool const gpu = devices.front()->info().kind == DeviceKind::cuda;
  if (options.lanes == 0) options.lanes = static_cast<unsigned>(devices.size()) * (gpu ? 2 : 1);
  if (options.slots == 0) options.slots = 4;
  if (options.lanes + 2 > cpus) options.spin = {};
  if (options.consumers == 0) {
    options.consumers = options.parallel_sink || !options.host_stages.empty() ? std::max(1U, cpus / 2) : 1;
  }
  if (options.producers == 0) {
    unsigned const taken = options.lanes + options.consumers;
    options.producers = cpus > taken + 1 ? cpus - taken : 1;
  }
  if (options.tiles == 0) {
    options.tiles = std::size_t{options.lanes} * options.slots + 2 * std::size_t{options.producers} + options.consumers;
    options.tiles = std::min(options.tiles, Pool::max_tiles);
  }
  return options;
}

PlacementRequest placement_request(PipelineOptions const& options, DeviceInfo const& device) {
  PlacementRequest request;
  request.lanes = options.lanes;
  request.producers = options.producers;
  request.consumers = options.consumers;
  if (device.kind == DeviceKind::cuda) request.device = "GPU " + std::to_string(device.ordinal);
  request.device_node = device.numa_node;
  request.bind = options.bind;
  return request;
}

Slab make_slab(PipelineOptions const& options, Topology const& topology, Placement const& placement) {
  std::optional<NumaNode> node;
  if (placement.tile_node()) node = topology.node(*placement.tile_node());
  // Whole huge pages: only whole pages can be pinned.
  std::size_t const pages =
      std::max<std::size_t>(1, (Pool::slab_bytes(options.tile, options.tiles) + Slab::alignment - 1) / Slab::alignment);
  return Slab(pages * Slab::alignment, node,
              std::min<std::size_t>(topology.busy_threads(), Slab::default_touch_threads));
}

}  // namespace

struct Pipeline::Parts {
  Parts(std::vector<Device*> driven, PipelineOptions wanted)
      : devices(std::move(driven)),
        topology(Topology::detect()),
        options(resolve(std::move(wanted), devices, topology)),
        placement(topology, placement_request(options, devices.front()->info())),
        slab(make_slab(options, topology, placement)),
        pinned(devices.front()->pin(slab.bytes())),
        pool(slab.bytes(), options.tile, options.tiles),
        journeys(options.tiles) {}

  std::shared_ptr<Run> open_run(Stages stages, Sink sink) {
    auto made = std::make_shared<Run>(pool, journeys, devices, options, placement, std::move(stages), std::move(sink));
    std::scoped_lock const lock(run_mutex);
    run = made;
    return made;
  }
  /// The run that is going on, for other threads; or null.
  std::shared_ptr<Run> current() {
    std::scoped_lock const lock(run_mutex);
    return run;
  }
  std::shared_ptr<Run> close_run() {
    std::scoped_lock const lock(run_mutex);
    return std::exchange(run, nullptr);
  }
  void add_remarks(Report& report) const {
    for (auto const* remarks : {&placement.remarks(), &slab.remarks()}) {
      report.remarks.insert(report.remarks.end(), remarks->begin(), remarks->end());
    }
  }

  std::vector<Device*> const devices;
  Topology const topology;
  PipelineOptions const options;
  Placement const placement;
  Slab const slab;
  Pinned const pinned;
  Pool pool;
  std::vector<Journey> journeys;
  std::mutex run_mutex;
  std::shared_ptr<Run> run;
};

Pipeline::Pipeline(Device& device, PipelineOptions options)
    : Pipeline(std::vector<Device*>{&device}, std::move(options)) {}

Pipeline::Pipeline(std::vector<Device*> devices, PipelineOptions options) {
  if (devices.empty()) throw Error(ErrorKind::bad_argument, "A pipeline needs a device: give it at least one.");
  parts_ = std::make_unique<Parts>(std::move(devices), std::move(options));
}

Pipeline::~Pipeline() {
  stop();
  if (parts_->current() != nullptr) drain();
}

Report Pipeline::run(Source& source, Stages const& stages, Sink sink, std::stop_token stop) {
  if (parts_->current() != nullptr) {
    throw Error(ErrorKind::bad_argument, "The pipeline is running already: drain it first, or make a second one.");
  }
  auto const run = parts_->open_run(stages, std::move(sink));
  std::stop_callback const pass_on(std::move(stop), [&] { run->stop(); });
  std::vector<CpuSet> places;
  for (unsigned k = 0; k < parts_->options.producers; ++k) places.push_back(parts_->placement.producer(k));
  Report report;
  try {
    Producers producers(
        parts_->pool, source, places,
        [&](Loan loan, std::shared_ptr<Failure const> failure) { run->send(std::move(loan), std::move(failure)); },
        run->enough(),
        [&](std::shared_ptr<Failure const> const& why) {
          run->note_failure(why);
          run->end_of_input();
        });
    report = run->finish();
    report.borrow_wait = producers.borrow_wait();
    report.fill = producers.fill();
    for (auto& remark : producers.remarks()) report.remarks.push_back(std::move(remark));
  } catch (...) {
    parts_->close_run();
    throw;
  }
  parts_->close_run();
  parts_->add_remarks(report);
  return report;
}

void Pipeline::start(Stages stages, Sink sink) {
  if (parts_->current() != nullptr) {
    throw Error(ErrorKind::bad_argument, "The pipeline is running already: drain it first, or make a second one.");
  }
  parts_->open_run(std::move(stages), std::move(sink))->start_graph_thread();
}

Report Pipeline::drain() {
  auto const run = parts_->current();
  if (run == nullptr) throw Error(ErrorKind::bad_argument, "The pipeline is not running: start it first.");
  run->end_of_input();
  Report report = run->finish();
  parts_->close_run();
  parts_->add_remarks(report);
  return report;
}

void Pipeline::stop() noexcept {
  if (auto const run = parts_->current()) run->stop();
}

PipelineOptions const& Pipeline::options() const noexcept {
  return parts_->options;
}
Pool& Pipeline::pool() noexcept {
  return parts_->pool;
}

Loan Feed::borrow() {
  auto loan = borrow(std::stop_token{});
  if (!loan) {
    throw Error(ErrorKind::bad_argument,
                "The pipeline takes no more tiles: it was stopped or drained, or it lost its devices.");
  }
  return std::move(*loan);
}

std::optional<Loan> Feed::borrow(std::stop_token const& stop) {
  auto const run = pipeline_->parts_->current();
  if (run == nullptr || run->ending()) return std::nullopt;
  // Two reasons to wait no longer, one token to wait with.
  std::stop_source either;
  std::stop_callback const asked(stop, [&] { either.request_stop(); });
  std::stop_callback const ending(run->enough(), [&] { either.request_stop(); });
  return pipeline_->pool().borrow(either.get_token());
}

std::optional<Loan> Feed::try_borrow() {
  auto const run = pipeline_->parts_->current();
  if (run == nullptr || run->ending()) return std::nullopt;
  return pipeline_->pool().try_borrow();
}

void Feed::submit(Loan loan) {
  auto const run = pipeline_->parts_->current();
  if (run == nullptr || !run->submit(loan)) {
    throw Error(ErrorKind::bad_argument, "The pipeline was drained: start it before you submit.");
  }
}

}  // namespace penstock
