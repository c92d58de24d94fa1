// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "penstock/options.hpp"

namespace penstock {

/// The devices of a pipeline, as defaults tell them apart. A modelled GPU is a GPU.
enum class Driven : std::uint8_t { cpu, gpu, several_gpus };
/// The class of a tile's size: `large` from `large_tile` on, by the larger of its parts.
enum class TileClass : std::uint8_t { small, large };

/// From this tile size on, one lane fills a GPU's link.
inline constexpr std::size_t large_tile = std::size_t{1} << 20;

/// The kind of pipeline that defaults depend on.
struct PipelineKind {
  Driven driven = Driven::cpu;
  Aim aim = Aim::throughput;
  TileClass tile = TileClass::small;

  bool operator==(PipelineKind const&) const = default;
};

constexpr TileClass tile_class(std::size_t largest_part) {
  return largest_part < large_tile ? TileClass::small : TileClass::large;
}

/// A number that a pipeline takes where its options leave it open.
enum class Number : std::uint8_t {
  lanes,               ///< Lanes of each device; of a CPU device at most.
  cpus_of_lane,        ///< CPUs that each lane stands for; 0 where the number of lanes does not depend on them.
  batch_bytes,         ///< Bytes of the tiles that a lane puts on its device at once; 0: a batch is one tile.
  most_batch,          ///< Tiles in such a batch, at most.
  burst_batch,         ///< Tiles in a batch, at most, if no slots are asked for.
  least_slots,         ///< Slots of a lane, at least, however small its batches are.
  spin_us,             ///< Time that a lane without work watches its device.
  borrow_spin_us,      ///< Time that a thread that waits for a tile watches for it.
  cached_bytes,        ///< Bytes of the pool beyond which tiles leave the last cache before they are lent again.
  bytes_of_producer,   ///< Bytes of the pool for each producer beyond the first.
  bytes_of_producers,  ///< Bytes of the pool for all these producers at most.
};

/// One number for some kinds of pipeline, and the bench or the page with the measurements that chose it.
struct Default {
  Number number;
  /// Bits of Driven, Aim and TileClass: the kinds that it is for.
  unsigned driven, aims, tiles;
  std::uint64_t value;
  std::string_view bench;

  constexpr bool is_for(Number wanted, PipelineKind kind) const {
    auto const has = [](unsigned bits, auto which) { return ((bits >> static_cast<unsigned>(which)) & 1U) != 0; };
    return number == wanted && has(driven, kind.driven) && has(aims, kind.aim) && has(tiles, kind.tile);
  }
};

/// The defaults: each number has one row for each kind of pipeline.
///
/// A row of `bench/` names a bench of this repository. A page has the measurements of `penstock bench`, whose command
/// line it quotes.
namespace defaults {

inline constexpr unsigned cpu = 1, gpu = 2, gpus = 4, a_gpu = gpu | gpus, any_device = 7;
inline constexpr unsigned throughput = 1, latency = 2, any_aim = 3;
inline constexpr unsigned small = 1, large = 2, any_tile = 3;
inline constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
inline constexpr std::uint64_t no_bound = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t for_ever = Tuning::for_ever.count();
inline constexpr std::string_view batches = "docs/decisions/batches.md", latencies = "docs/decisions/latency.md",
                                  pools = "docs/decisions/pool.md", several = "docs/decisions/several-devices.md",
                                  threads = "docs/decisions/threads.md";

// clang-format off
inline constexpr std::array table{
    //      number                      devices     aim         tiles     value      chosen by
    Default{Number::lanes,              cpu,        throughput, any_tile, 4,         threads},
    Default{Number::lanes,              gpu,        throughput, small,    2,         "bench/engine/flow/one_shot_bench"},
    Default{Number::lanes,              gpu,        throughput, large,    1,         "bench/engine/flow/one_shot_bench"},
    Default{Number::lanes,              gpus,       throughput, any_tile, 1,         several},
    Default{Number::lanes,              any_device, latency,    any_tile, 1,         latencies},

    // A kernel on one tile has too few blocks for many CPUs; kernels of several lanes run beside each other.
    Default{Number::cpus_of_lane,       cpu,        throughput, any_tile, 4,         threads},
    Default{Number::cpus_of_lane,       cpu,        latency,    any_tile, 0,         latencies},
    Default{Number::cpus_of_lane,       a_gpu,      any_aim,    any_tile, 0,         "bench/engine/flow/one_shot_bench"},

    Default{Number::batch_bytes,        cpu,        any_aim,    any_tile, 0,         batches},
    Default{Number::batch_bytes,        a_gpu,      any_aim,    small,    8 * mib,   batches},
    Default{Number::batch_bytes,        a_gpu,      any_aim,    large,    32 * mib,  batches},
    Default{Number::most_batch,         any_device, any_aim,    any_tile, 128,       batches},

    // Aim::latency has small batches, and so few slots: lone tiles go round all of them, and each new one has no graph
    // yet. A batch is more than one tile, because the tiles of a burst wait for the lane's calls, and four tiles take
    // as many calls for copies and events as one. With four such batches none of a burst's tiles waits for neighbours
    // while fewer than eight are on the device.
    Default{Number::burst_batch,        any_device, throughput, any_tile, no_bound,  batches},
    Default{Number::burst_batch,        any_device, latency,    any_tile, 4,         latencies},

    // With batches of one, four slots keep two lanes less busy than 32 do (docs/decisions/lanes.md).
    Default{Number::least_slots,        a_gpu,      throughput, small,    32,        "bench/engine/lane/signal_bench"},
    Default{Number::least_slots,        a_gpu,      latency,    small,    16,        latencies},
    Default{Number::least_slots,        a_gpu,      any_aim,    large,    0,         "bench/engine/flow/one_shot_bench"},
    Default{Number::least_slots,        cpu,        any_aim,    any_tile, 0,         "bench/engine/flow/one_shot_bench"},

    // The spin is longer than a 4 MiB tile takes to pass.
    Default{Number::spin_us,            a_gpu,      throughput, any_tile, 200,       "bench/engine/flow/one_shot_bench"},
    Default{Number::spin_us,            cpu,        throughput, any_tile, 0,         threads},
    Default{Number::spin_us,            any_device, latency,    any_tile, for_ever,  latencies},

    // It exceeds the longest time from one tile that comes home to the next while a GPU is busy with small ones. Large
    // tiles are further apart than a wake-up takes, so watching longer gained nothing.
    Default{Number::borrow_spin_us,     a_gpu,      throughput, small,    20,        batches},
    Default{Number::borrow_spin_us,     a_gpu,      throughput, large,    5,         batches},
    Default{Number::borrow_spin_us,     cpu,        throughput, any_tile, 0,         "bench/engine/core/pool_bench"},
    Default{Number::borrow_spin_us,     any_device, latency,    any_tile, for_ever,  latencies},

    // A thread that fills tiles leaves them in the last cache, as long as they do not push each other out before they are
    // lent again; all tiles are lent in turn. Several GPUs copy faster than the host's memory can go, unless the last
    // cache holds most of it, and the cache does not grow with their number.
    Default{Number::cached_bytes,       cpu | gpu,  any_aim,    any_tile, 160 * mib, pools},
    Default{Number::cached_bytes,       gpus,       throughput, any_tile, 32 * mib,  several},
    Default{Number::cached_bytes,       gpus,       latency,    any_tile, 160 * mib, pools},

    // Such a producer fills one tile of a batch, and the others of the batch wait for that one.
    Default{Number::bytes_of_producer,  gpus,       throughput, any_tile, 2 * mib,   several},
    Default{Number::bytes_of_producers, gpus,       throughput, any_tile, 64 * mib,  several},
};
// clang-format on

}  // namespace defaults

/// The number for that kind of pipeline; 0 if there is none.
constexpr std::uint64_t default_of(Number number, PipelineKind kind) {
  for (Default const& row : defaults::table) {
    if (row.is_for(number, kind)) return row.value;
  }
  return 0;
}

/// Batches in flight: one in each step, and one that is put or retired. With batches of one tile, more of them gained
/// nothing (bench/engine/flow/one_shot_bench).
inline constexpr unsigned batches_in_flight = 4;
/// The reserve is closed with up to this many producers at work (docs/decisions/several-devices.md).
inline constexpr std::size_t producers_without_reserve = 2;

}  // namespace penstock
