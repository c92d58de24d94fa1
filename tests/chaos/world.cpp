// SPDX-License-Identifier: Apache-2.0
#include "chaos/world.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <time.h>

namespace penstock::chaos {
namespace {

/// Faults that strike while a pipeline runs, and not what it is made of.
constexpr std::array faults_that_strike{
    cpu::Fault::refuse_upload,  cpu::Fault::refuse_download, cpu::Fault::refuse_launch,   cpu::Fault::refuse_call,
    cpu::Fault::refuse_record,  cpu::Fault::refuse_wait,     cpu::Fault::refuse_query,    cpu::Fault::refuse_capture,
    cpu::Fault::drop_launch,    cpu::Fault::break_upload,    cpu::Fault::break_download,  cpu::Fault::break_kernel,
    cpu::Fault::late_callback,  cpu::Fault::early_callback,  cpu::Fault::double_callback, cpu::Fault::lost_callback,
    cpu::Fault::stray_callback, cpu::Fault::false_alarm,     cpu::Fault::false_loss,      cpu::Fault::lost_write,
    cpu::Fault::early_write,    cpu::Fault::late_wakeup,     cpu::Fault::early_wakeup,    cpu::Fault::false_wakeup,
};

}  // namespace

World::World(Case& the_case) : case_(the_case) {
  std::size_t const devices = the_case.once_in(3, "more_devices") ? the_case.pick("devices", 2, 3) : 1;
  bool const two_nodes = devices > 1 && the_case.once_in(2, "two_nodes");
  // A look at the true machine would also take longer than all else that a seed does.
  setenv("HWLOC_SYNTHETIC", machines[two_nodes ? 1 : 0], 1);
  auto const compute = static_cast<unsigned>(the_case.pick("compute", 1, 2));
  auto const callbacks = static_cast<unsigned>(the_case.pick("callbacks", 1, 2));
  for (std::size_t i = 0; i < devices; ++i) {
    cpu::CpuOptions options{.ordinal = static_cast<int>(i), .compute_threads = compute, .callback_threads = callbacks};
    if (two_nodes) options.numa_node = static_cast<int>(i % 2);
    devices_.push_back(std::make_unique<cpu::FaultyCpuDevice>(options));
  }
}

World::~World() {
  for (auto const& device : devices_) {
    // One that was abandoned keeps what it may still touch.
    case_.expect(device->abandoned() || device->outstanding() == cpu::Outstanding{},
                 "a device has not got back all that it lent");
  }
}

std::vector<Device*> World::devices() const {
  std::vector<Device*> all;
  for (auto const& device : devices_) all.push_back(device.get());
  return all;
}

PipelineOptions World::draw_options(Case& the_case) const {
  PipelineOptions options;
  std::size_t const bytes = std::size_t{32} << the_case.pick("size", 0, 6);
  options.tile = {.input_bytes = bytes, .output_bytes = bytes, .in_place = the_case.once_in(2, "in_place")};
  options.tuning.tiles = the_case.pick("tiles", 1, 12);
  options.producers = static_cast<unsigned>(the_case.pick("producers", 1, 3));
  std::size_t const lanes = the_case.pick("lanes", 1, 3);
  options.lanes = static_cast<unsigned>(std::max(devices_.size(), lanes));
  options.tuning.tiles = std::max<std::size_t>(options.tuning.tiles, options.lanes);
  options.consumers = static_cast<unsigned>(the_case.pick("consumers", 1, 3));
  options.tuning.batch = static_cast<unsigned>(the_case.pick("batch", 1, 4));
  options.tuning.slots = static_cast<unsigned>(the_case.pick("slots", 1, 6));
  options.tuning.signal = static_cast<SignalKind>(the_case.pick("signal", 0, 5));
  options.tuning.shape = all_lane_shapes.at(the_case.pick("shape", 0, 1));
  options.tuning.graphs = all_graphs.at(the_case.pick("graphs", 0, 2));
  options.tuning.streams = the_case.once_in(2, "own_streams") ? StreamMode::own : StreamMode::thread_default;
  constexpr std::array spins{0, 0, 0, 20, 200};
  options.tuning.spin = std::chrono::microseconds(spins.at(the_case.pick("spin", 0, spins.size() - 1)));
  options.tuning.borrow_spin = std::chrono::microseconds(the_case.once_in(3, "borrow_spin") ? 10 : 0);
  options.ordered = the_case.once_in(3, "ordered");
  options.parallel_sink = the_case.once_in(3, "parallel_sink") && !options.ordered;
  options.tuning.sink_on_lanes = !options.ordered && the_case.once_in(4, "sink_on_lanes");
  for (std::uint64_t left = the_case.once_in(3, "host") ? the_case.pick("host_stages", 1, 2) : 0; left > 0; --left) {
    options.host_stages.push_back({.name = "host stage " + std::to_string(left),
                                   .body =
                                       [](Tile& tile) {
                                         for (std::byte& byte : tile.input().first(tile.filled)) {
                                           byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + 1);
                                         }
                                       },
                                   .at_once = the_case.pick("at_once", 0, 2)});
  }
  if (the_case.once_in(5, "to_completion")) {
    options.tuning.run_to_completion = true;
    options.host_stages.clear();
    options.producers = options.tuning.slots = options.tuning.batch = 0;
  }
  return options;
}

void add_one(DeviceSpan<std::byte const> from, DeviceSpan<std::byte> to, StreamRef stream) {
  constexpr std::size_t block_bytes = 512;
  std::size_t const bytes = std::min(from.size(), to.size());
  auto const blocks = static_cast<std::uint32_t>((bytes + block_bytes - 1) / block_bytes);
  if (blocks == 0) return;
  stream.launch(blocks, [=](KernelBlock block) {
    std::span const input = from.in(block);
    std::span const output = to.in(block);
    std::size_t const end = std::min(bytes, (block + std::size_t{1}) * block_bytes);
    for (std::size_t i = block * block_bytes; i < end; ++i) {
      output[i] = static_cast<std::byte>(std::to_integer<unsigned>(input[i]) + 1);
    }
  });
}

Stages draw_stages(Case& the_case, PipelineOptions& options) {
  bool const one_pass = the_case.once_in(2, "one_pass");
  bool const capturable = the_case.once_in(3, "capturable");
  if (one_pass) options.tuning.transport = all_transports.at(the_case.pick("transport", 0, 2));
  return on_device(
      [](DeviceTile const& tile, StreamRef stream) {
        add_one(tile.input, tile.output, stream);
        return tile.input.size();
      },
      {.reads_once = one_pass, .capturable = capturable});
}

Trouble::Trouble(Case& the_case, World& world) : world_(world) {
  for (std::uint64_t left = the_case.pick("faults", 1, 4); left > 0; --left) {
    std::uint64_t const which = the_case.pick("fault", 0, faults_that_strike.size() - 1);
    std::uint64_t const nth = the_case.pick("nth", 1, 60);
    std::size_t const device = the_case.draw.below(world.own().size());
    world.own()[device]->inject(faults_that_strike.at(which), nth);
  }
  deliverer_ = std::thread([this] { deliver(); });
}

Trouble::~Trouble() {
  over_.store(true);
  deliverer_.join();
}

/// A stream whose callback is late would stand still for ever without this.
void Trouble::deliver() {
  timespec const pause{.tv_sec = 0, .tv_nsec = 300'000};
  while (!over_.load()) {
    nanosleep(&pause, nullptr);
    for (auto const& device : world_.own()) {
      if (device->late_callbacks() > 0) device->deliver_late_callbacks();
    }
  }
}

}  // namespace penstock::chaos
