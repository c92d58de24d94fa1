// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_options.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/core/pool.hpp"
#include "engine/plan/defaults.hpp"
#include "engine/plan/option_bounds.hpp"
#include "engine/plan/spin_room.hpp"
#include "engine/plan/tile_count.hpp"
#include "engine/plan/usual_sizes.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using std::chrono::microseconds;

microseconds as_time(std::uint64_t count) {
  return microseconds(static_cast<microseconds::rep>(count));
}

std::string others(Crowd const& crowd) {
  bool const one = crowd.elsewhere == 1;
  return std::to_string(crowd.elsewhere) + (one ? " thread" : " threads") + " of other pipelines of this process " +
         (one ? "stays" : "stay") + " awake";
}

[[noreturn]] void refuse(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

int fewest_multiprocessors(std::vector<Device*> const& devices) {
  int fewest = devices.front()->info().compute_units;
  for (Device* const device : devices) fewest = std::min(fewest, device->info().compute_units);
  return fewest;
}

/// The options, and all that they are resolved from.
class Resolving {
 public:
  Resolving(PipelineOptions options, std::vector<Device*> const& devices, Topology const& topology,
            std::vector<std::string>& remarks, AwakeThreads const& elsewhere)
      : options_(std::move(options)),
        device_list_(devices),
        topology_(topology),
        devices_(devices.size()),
        fewest_multiprocessors_(options_.tuning.spare > 0 ? fewest_multiprocessors(devices) : 0),
        gpu_(devices.front()->info().acts_as_gpu()),
        kind_{.driven = !gpu_                ? Driven::cpu
                        : devices.size() > 1 ? Driven::several_gpus
                                             : Driven::gpu,
              .aim = options_.aim,
              .tile = tile_class(options_.tile.largest_part())},
        cpus_(static_cast<unsigned>(threads_at_once(devices.front()->info(), topology))),
        room_(devices, options_, topology, elsewhere),
        largest_part_(options_.tile.largest_part()),
        asked_batch_(options_.tuning.batch),
        asked_slots_(options_.tuning.slots),
        few_(have_few_tiles(options_, devices)),
        remarks_(remarks) {}

  PipelineOptions resolved() {
    expect_possible();
    resolve_lanes();
    resolve_batches();
    resolve_spin();
    resolve_borrow_spin();
    resolve_other_threads();
    resolve_tiles();
    return std::move(options_);
  }

 private:
  bool for_latency() const { return options_.aim == Aim::latency; }

  void expect_possible() const {
    if (largest_part_ == 0) {
      refuse("The tiles have no bytes: set PipelineOptions::tile, to tile_of<float>(1 << 20) say.");
    }
    for (std::size_t i = 0; i < options_.host_stages.size(); ++i) {
      HostStage const& stage = options_.host_stages[i];
      if (stage.body) continue;
      refuse("Host stage " + (stage.name.empty() ? std::to_string(i + 1) : "'" + stage.name + "'") +
             " has no body: give it a function.");
    }
    expect_in_bounds(options_);
    if (options_.tuning.patience.count() <= 0) {
      refuse("A lane needs some `patience` with its device: leave it at 60 s, or ask for more.");
    }
    if (gpu_ && fewest_multiprocessors_ > 0 && std::cmp_greater_equal(options_.tuning.spare, fewest_multiprocessors_)) {
      refuse("`spare` leaves no multiprocessor to the stages: the GPU has " + std::to_string(fewest_multiprocessors_) +
             ", so ask for " + std::to_string(fewest_multiprocessors_ - 1) + " at most.");
    }
    if (options_.tuning.run_to_completion) expect_completion_possible();
    if (options_.ordered && options_.tuning.sink_on_lanes) {
      refuse("A sink cannot be called by the lanes and keep the source's order: choose ordered or sink_on_lanes.");
    }
  }

  void expect_completion_possible() const {
    auto const is_gpu = [](Device const* device) { return device->info().acts_as_gpu(); };
    if (std::ranges::any_of(device_list_, is_gpu)) {
      refuse(
          "`run_to_completion` is for CPU devices: a GPU works on some tiles while threads fill others, so leave it "
          "out.");
    }
    if (!options_.host_stages.empty()) {
      refuse(
          "With `run_to_completion` lanes fill tiles, and no thread is left for host stages: do that work in the "
          "source's `fill`.");
    }
    if (options_.producers != 0 || asked_slots_ > 1 || asked_batch_ > 1) {
      refuse(
          "With `run_to_completion` lanes are the producers, and each has one tile: leave out `producers`, `slots` and "
          "`batch`, and ask for `lanes`.");
    }
  }

  void resolve_lanes() {
    if (options_.lanes == 0) {
      unsigned const cpus = cpus_ / static_cast<unsigned>(devices_);
      bool const one_for_each_cpu = options_.tuning.run_to_completion && !for_latency();
      unsigned const each = one_for_each_cpu ? std::max(1U, cpus) : usual_lanes(kind_, cpus);
      options_.lanes = static_cast<unsigned>(devices_) * each;
    }
    if (options_.lanes < devices_) {
      remarks_.push_back("There are " + std::to_string(devices_) + " lanes and not " + std::to_string(options_.lanes) +
                         ", one for each device.");
      options_.lanes = static_cast<unsigned>(devices_);
    }
  }

  /// Sets the number of tiles to put on the device at once, and the number to have there.
  void resolve_batches() {
    if (options_.tuning.run_to_completion) {
      // A lane brings no tile before it has finished its own. It has streams of its own, so that none computes
      // for another, and so that they end with it.
      options_.tuning.batch = options_.tuning.slots = 1;
      options_.tuning.streams = StreamMode::own;
      return;
    }
    if (asked_batch_ == 0) {
      unsigned const batch = few_ ? usual_batch_of_several(Pool::slab_bytes(options_.tile, 1), devices_)
                                  : usual_batch(kind_.driven, largest_part_);
      auto const burst = static_cast<unsigned>(default_of(Number::burst_batch, kind_));
      options_.tuning.batch =
          gpu_ && asked_slots_ != 0 ? std::clamp(asked_slots_ / batches_in_flight, 1U, batch) : std::min(batch, burst);
    }
    if (asked_slots_ == 0) {
      std::size_t const least = default_of(Number::least_slots, kind_);
      options_.tuning.slots = static_cast<unsigned>(
          std::min(std::max(least, std::size_t{batches_in_flight} * options_.tuning.batch), Pool::max_tiles));
    }
  }

  void resolve_spin() {
    // A user that asks for a thread that sleeps beside the lane wants the CPU, not the last microseconds.
    bool const watches = for_latency() || options_.tuning.signal != SignalKind::event_block;
    microseconds const usual = watches ? as_time(default_of(Number::spin_us, kind_)) : microseconds(0);
    microseconds const wanted = std::min(options_.tuning.spin.value_or(usual), Tuning::for_ever);
    auto const crowd = wanted.count() == 0 ? std::nullopt : room_.crowded({.lanes = options_.lanes});
    if (crowd && (options_.tuning.spin || for_latency())) {
      remarks_.push_back("The lanes do not spin: " + std::to_string(crowd->lanes) +
                         " of them would leave fewer than two of " + crowd->place + " to everything else" +
                         (crowd->elsewhere > 0 ? ", since " + others(*crowd) + " as well" : "") + "; use fewer lanes.");
    }
    options_.tuning.spin = crowd ? microseconds(0) : wanted;
  }

  void resolve_borrow_spin() {
    // One thread that waits for a tile counts, and the consumer that waits for results, if any go through the graph.
    auto const crowd = room_.crowded({.lanes = options_.tuning.spin->count() > 0 ? options_.lanes : 0,
                                      .borrowers = 1,
                                      .consumers = enters_graph(options_) ? 1U : 0U});
    bool const wanted = options_.tuning.borrow_spin ? options_.tuning.borrow_spin->count() > 0 : for_latency();
    if (wanted && crowd) {
      std::string const lanes = std::to_string(crowd->lanes) + (crowd->lanes == 1 ? " lane spins" : " lanes spin");
      remarks_.push_back("No thread watches for tiles: that would leave fewer than two of " + crowd->place +
                         " to everything else" + (crowd->lanes == 0 && crowd->elsewhere == 0 ? "." : ", since ") +
                         (crowd->lanes > 0 ? lanes + (crowd->of_a_node ? " there" : "") : "") +
                         (crowd->lanes > 0 && crowd->elsewhere > 0 ? " and " : "") +
                         (crowd->elsewhere > 0 ? others(*crowd) : "") +
                         (crowd->lanes == 0 && crowd->elsewhere == 0 ? "" : " as well; use fewer lanes."));
    }
    microseconds const usual = as_time(default_of(Number::borrow_spin_us, kind_));
    options_.tuning.borrow_spin =
        crowd ? microseconds(0) : std::min(options_.tuning.borrow_spin.value_or(usual), Tuning::for_ever);
  }

  void resolve_other_threads() {
    if (options_.consumers == 0) {
      bool const at_once = options_.parallel_sink || !options_.host_stages.empty();
      options_.consumers = at_once ? std::max(1U, cpus_ / 2) : 1;
    }
    if (options_.producers == 0 && !options_.tuning.run_to_completion) {
      unsigned const taken = options_.lanes + options_.consumers;
      options_.producers = cpus_ > taken + 1 ? cpus_ - taken : 1;
    }
  }

  std::size_t usual_number() const {
    // A tile that a consumer has does not hold up its lane.
    if (options_.tuning.run_to_completion) return (enters_graph(options_) ? 2 : 1) * std::size_t{options_.lanes};
    TileHolders const holders = holders_of(options_);
    return few_ ? tiles_of_several(holders) : for_latency() ? few_tiles(holders) : usual_tiles(holders);
  }

  void resolve_tiles() {
    TileWish const wish{.usual = options_.tuning.tiles == 0 ? usual_number() : 0,
                        .asked_batch = asked_batch_,
                        .asked_slots = asked_slots_};
    options_ = choose_tiles(std::move(options_), wish, device_list_, topology_, remarks_);
    remark_on_less();
  }

  void remark_on_less() {
    Tuning const& granted = options_.tuning;
    if (granted.slots < asked_slots_) {
      remarks_.push_back("A lane has " + std::to_string(granted.slots) + " slots and not " +
                         std::to_string(asked_slots_) + ", since the pool has no more tiles.");
    }
    if (granted.batch < asked_batch_) {
      std::size_t const two = std::size_t{2} * asked_batch_;
      remarks_.push_back("A batch has " + std::to_string(granted.batch) + (granted.batch == 1 ? " tile" : " tiles") +
                         " and not " + std::to_string(asked_batch_) + ", which would need " + std::to_string(two) +
                         " slots and " + std::to_string(two * options_.lanes) + " tiles.");
    }
  }

  PipelineOptions options_;
  std::vector<Device*> const& device_list_;
  Topology const& topology_;
  std::size_t const devices_;
  int const fewest_multiprocessors_;  ///< The fewest of its GPUs; 0, if they do not say or none are to be left free.
  bool const gpu_;
  PipelineKind const kind_;
  unsigned const cpus_;
  SpinRoom const room_;
  std::size_t const largest_part_;
  unsigned const asked_batch_;  ///< 0, if it is left to the pipeline.
  unsigned const asked_slots_;  ///< 0, if it is left to the pipeline.
  bool const few_;
  std::vector<std::string>& remarks_;
};

}  // namespace

PipelineOptions resolve(PipelineOptions options, std::vector<Device*> const& devices, Topology const& topology,
                        std::vector<std::string>& remarks, AwakeThreads const& elsewhere) {
  return Resolving(std::move(options), devices, topology, remarks, elsewhere).resolved();
}

}  // namespace penstock
