// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/pipeline_parts.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/works_for.hpp"
#include "engine/flow/expect_fitting.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

/// Makes the hooks, which may add to the options.
std::vector<std::unique_ptr<RunHook>> hooks_for(PipelineOptions& options) {
  std::vector<std::unique_ptr<RunHook>> hooks;
  for (RunHookMaker const& make : std::vector(options.watching.hooks)) {
    if (auto hook = make ? make(options) : nullptr) hooks.push_back(std::move(hook));
  }
  return hooks;
}

void expect_complete(Stages const& stages, Sink const& sink) {
  if (!stages.make) {
    throw Error(ErrorKind::bad_argument,
                "There is no stage: give the pipeline one, with on_device or stage_per_lane, say.");
  }
  if (!sink) throw Error(ErrorKind::bad_argument, "There is no sink: give the pipeline a function for completions.");
}

}  // namespace

Pipeline::Parts::Parts(std::vector<Device*> driven, PipelineOptions wanted, std::stop_token const& stop)
    : devices(std::move(driven)),
      device_names(DeviceGroup(devices).names()),
      topology(Topology::detect()),
      users_recorder(wanted.watching.recorder),
      hooks(hooks_for(wanted)),
      plan(awake.plan(wanted, devices, topology)),
      memory(plan.layout, plan.options, topology, devices, stop),
      pool(memory.parts(), plan.options.tile, plan.options.tuning.borrow_spin.value_or(std::chrono::microseconds(0)),
           plan.reserve),
      feed_waits(pool, plan.options.tuning.patience),
      records(plan.options.tuning.tiles) {}

std::shared_ptr<Run> Pipeline::Parts::open_run(Input input, Stages stages, Sink sink) {
  {
    std::scoped_lock const lock(mutex_);
    if (run_ != nullptr || starting_) {
      throw Error(ErrorKind::bad_argument, "The pipeline is running already: drain it first, or make a second one.");
    }
    starting_ = true;
  }
  try {
    return make_run(input, std::move(stages), std::move(sink));
  } catch (...) {
    std::scoped_lock const lock(mutex_);
    starting_ = false;
    throw;
  }
}

std::shared_ptr<Run> Pipeline::Parts::make_run(Input input, Stages stages, Sink sink) {
  expect_complete(stages, sink);
  expect_fitting(stages.types, plan.options.tile);
  // Stages that see all tiles in their sequence have one lane.
  one_lane_ = stages.order.in_sequence && !stages.order.key;
  for (auto const& hook : hooks) hook->before_run(hooked(stages));
  // Only a run that can be judged is worth the look.
  load = plan.options.watching.recorder != nullptr ? std::make_unique<HostLoad>(topology.cpus()) : nullptr;
  auto made = std::make_shared<Run>(input, open_input, pool, records,
                                    one_lane_ ? std::vector<LanePlace>{plan.lanes.front()} : plan.lanes, plan.options,
                                    hooks, plan.consumers, std::move(stages), std::move(sink));
  if (input == Input::pushed) {
    made->start_graph_thread();
    fed_run.store(made.get(), std::memory_order_release);
  }
  std::scoped_lock const lock(mutex_);
  starting_ = false;
  run_ = made;
  last_input_ = input;
  ++runs_;
  if (ending_) made->stop();
  return made;
}

bool Pipeline::Parts::is_thread_of_a_device() const noexcept {
  return std::ranges::any_of(devices, [](Device const* device) { return WorksFor::here(device); });
}

void Pipeline::Parts::stop_for_good() noexcept {
  std::scoped_lock const lock(mutex_);
  ending_ = true;
  if (run_ != nullptr) run_->stop();
}

Report Pipeline::Parts::drain(std::function<void()> const& hand_in_rest) {
  auto const run = current();
  if (run == nullptr) throw Error(ErrorKind::bad_argument, "The pipeline is not running: start it first.");
  run->claim_finish();
  struct Closed {
    Parts& parts;
    ~Closed() { parts.close_run(); }
  } const closed{*this};
  hand_in_rest();
  run->end_of_input();
  Report report = run->finish();
  report.borrow_wait = feed_waits.take_waited();
  add_to_report([&] {
    complete(report, run->placed());
    tell_hooks(report, *run);
  });
  return report;
}

void Pipeline::Parts::close_run() {
  fed_run.store(nullptr, std::memory_order_release);
  // An exception may have left it open: then threads that wait for its tiles wake up, and no thread feeds it any more.
  if (auto const run = current()) run->give_up();
  std::scoped_lock const lock(mutex_);
  run_ = nullptr;
}

std::shared_ptr<Run> Pipeline::Parts::current() {
  std::scoped_lock const lock(mutex_);
  return run_;
}

Snapshot Pipeline::Parts::snapshot() {
  Snapshot all;
  {
    // The lock keeps this thread from being the last that has the run, which would destroy the user's stages.
    std::scoped_lock const lock(mutex_);
    all.run = runs_;
    all.running = run_ != nullptr;
    if (run_ != nullptr) run_->write_to(all);
  }
  all.at = Clock::now();
  for (std::string const& name : device_names) all.devices.push_back({.name = name});
  for (std::size_t number = 0; number < all.lanes.size(); ++number) {
    LaneSnapshot& lane = all.lanes[number];
    lane.device = number % devices.size();
    DeviceSnapshot& device = all.devices[lane.device];
    ++device.lanes;
    device.done += lane.done;
    device.failed += lane.failed;
    device.in_flight += lane.in_flight();
    device.bytes_up += lane.bytes_up;
    device.bytes_down += lane.bytes_down;
    device.lanes_lost += lane.lost ? 1 : 0;
  }
  Pool::Counts const counts = pool.counts();
  all.pool = {.tiles = pool.size(),
              .lent = counts.lent,
              .home = counts.home,
              .stranded = counts.stranded,
              .borrowers = pool.waiting()};
  return all;
}

std::shared_ptr<Run> Pipeline::Parts::fed() {
  std::unique_lock lock(mutex_);
  auto run = run_;
  bool const drained = run == nullptr && runs_ > 0 && last_input_ == Input::pushed;
  lock.unlock();
  if (run == nullptr) {
    throw Error(drained ? ErrorKind::ended : ErrorKind::bad_argument,
                "The pipeline takes no tiles: it was not started, or was drained; start it.");
  }
  if (run->input() == Input::pulled) {
    throw Error(ErrorKind::bad_argument,
                "The pipeline is pulling a source: wait for the end of its run, then start it to feed it yourself.");
  }
  return run;
}

void Pipeline::Parts::complete(Report& report, std::vector<PlacedThreads> const& threads) const {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    DeviceSummary& device = report.devices.emplace_back();
    device.name = device_names[i];
    if (auto const loss = devices[i]->lost()) device.loss = loss->what();
  }
  for (std::size_t number = 0; number < report.lanes.size(); ++number) {
    LaneSummary const& lane = report.lanes[number];
    DeviceSummary& device = report.devices[number % devices.size()];  // The plan deals them out so.
    ++device.lanes;
    device.tiles += lane.tiles;
    device.failed += lane.failed;
    if (lane.loss != nullptr && device.loss.empty()) device.loss = lane.loss->reason;
  }
  auto const of_memory = memory.remarks();
  for (auto const* some : {&plan.remarks, &plan.place_remarks, &of_memory}) {
    report.remarks.insert(report.remarks.end(), some->begin(), some->end());
  }
  for (Device* const device : devices) {
    for (std::string& remark : device->remarks()) report.remarks.push_back(std::move(remark));
  }
  // A recorder of a hook's own may be full: the hook knows what it missed.
  if (users_recorder != nullptr && users_recorder->missed() > 0) {
    report.remarks.push_back("The recorder was full: " + std::to_string(users_recorder->missed()) +
                             " passages of tiles are not in it; give RecorderOptions a larger `capacity`.");
  }
  report.pool_tiles = pool.size();
  report.pool_reserve = pool.reserve();
  report.pool_bytes = memory.bytes();
  report.placement = placed_text(topology, threads, memory.placed());
  report.nodes = static_cast<unsigned>(topology.nodes().size());
  report.cpus = plan.cpus;
  add_load(report);
}

void Pipeline::Parts::add_load(Report& report) const {
  // Time on a modelled machine is not this one's.
  if (load == nullptr || devices.front()->info().modelled) return;
  report.cpu_of_others = load->of_others(plan.cpus, report.cpu);
}

void Pipeline::Parts::tell_hooks(Report& report, Run const& run) const {
  for (auto const& hook : hooks) hook->after_run(report, hooked(run.stages(), run.stopped()));
}

HookedRun Pipeline::Parts::hooked(Stages const& stages, std::stop_token stopped) const {
  return {.devices = devices,
          .options = plan.options,
          .stages = stages,
          .one_lane = one_lane_,
          .stopped = std::move(stopped)};
}

}  // namespace penstock
