// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/ceilings.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/host_time.hpp"
#include "engine/core/pool.hpp"
#include "engine/machine/topology.hpp"
#include "engine/plan/spin_room.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"
#include "programs/command/pinned_memory.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/meter.hpp"
#include "programs/measure/parts_in_time.hpp"
#include "programs/measure/repeated_source.hpp"
#include "programs/measure/work_stages.hpp"

namespace penstock::measure {
namespace {

/// Calls from four threads reach most of the rate of a GPU's driver.
constexpr unsigned gpu_threads = 4;
/// Maximum number of threads of a GPU, each with a stream, in the search for the rate of small kernels.
constexpr unsigned most_streams = 32;
/// Maximum number of batches in flight per thread and stream: enough to hide the cost of starting a copy, few enough to
/// stay near the CPU.
constexpr std::size_t most_depth = 32;
constexpr std::size_t most_bytes = std::size_t{8} << 20;
/// Maximum memory of all threads that drive a device: large tiles fill it from fewer threads.
constexpr std::size_t most_bytes_of_all = std::size_t{256} << 20;
/// A copy of this size has hardly any set-up.
constexpr std::size_t large = std::size_t{8} << 20;

/// Layout of the memory in which threads copy or compute: each has as many places for batches, half of them for each
/// direction.
struct Layout {
  std::size_t stride = 0;  ///< Distance from one tile of a batch to the next.
  std::size_t batch = 1;
  std::size_t depth = 0;
  unsigned threads = 1;

  std::size_t of_thread() const { return 2 * depth * batch * stride; }
  std::size_t bytes() const { return threads * of_thread(); }
  std::span<std::byte> of(std::span<std::byte> slab, unsigned thread) const {
    return slab.subspan(thread * of_thread(), of_thread());
  }
};

Layout layout_of(std::size_t stride, std::size_t batch, unsigned threads) {
  Layout layout{.stride = stride, .batch = std::max<std::size_t>(batch, 1)};
  std::size_t const place = layout.batch * stride;
  layout.depth = std::clamp<std::size_t>(most_bytes / place, 2, most_depth);
  layout.threads = static_cast<unsigned>(std::clamp<std::size_t>(most_bytes_of_all / layout.of_thread(), 1, threads));
  return layout;
}

/// Puts the input of a job into tiles at a distance of `stride`, as much of it as there are tiles, or none if it has
/// none: the time of kernels may depend on their input.
void put_tiles(RepeatedSource::Make const& make, TileShape const& shape, std::size_t stride,
               std::span<std::byte> tiles) {
  std::vector<std::byte> slab(Pool::slab_bytes(shape, 1));
  Pool pool(slab, shape, 1);
  RepeatedSource source(make, pool);
  Loan const tile = pool.borrow();
  tile->sequence = 0;
  for (std::size_t at = 0; at + stride <= tiles.size() && source.next(*tile); at += stride) {
    source.fill(*tile);
    std::ranges::copy(tile->input(), tiles.subspan(at).begin());
    ++tile->sequence;
  }
}

/// Pinned memory for each device, on its node: plain copies would use the same.
class PinnedForEach {
 public:
  PinnedForEach(DeviceGroup const& devices, std::stop_token const& stop, std::size_t bytes_each,
                std::size_t bytes_of_first = 0) {
    Topology const topology = Topology::detect();
    for (Device* const device : devices.all()) {
      std::size_t const bytes = all_.empty() ? std::max(bytes_each, bytes_of_first) : bytes_each;
      std::size_t const pages = (bytes + Slab::alignment - 1) / Slab::alignment;
      std::optional<NumaNode> node;
      std::optional<int> const number = device->info().numa_node;
      for (NumaNode const& one : topology.nodes()) {
        if (one.number == number) node = one;
      }
      all_.emplace_back(*device, pages * Slab::alignment, node, stop);
    }
  }
  std::span<std::byte> of(std::size_t device) const { return all_[device].bytes(); }

 private:
  std::vector<PinnedMemory> all_;
};

}  // namespace

inline namespace PENSTOCK_FLAVOUR {

MeasuredCeilings measure_ceilings(DeviceGroup const& devices, Setting const& setting, unsigned producers,
                                  std::chrono::nanoseconds each, std::stop_token const& stop, FillMemory* memory) {
  TileShape const shape = setting.shape_of_tile();
  std::size_t const largest = shape.largest_part();
  auto const& job_alone = setting.its_job().alone;
  Alone const alone = job_alone ? job_alone(setting.point()) : Alone{};
  bool const one_input = shape.more_inputs().empty();
  // Tiles are laid out as in the pool, so that alignment is the same.
  TileShape const one_part{.input_bytes = largest};
  std::size_t const stride = Pool::slab_bytes(one_part, 2) - Pool::slab_bytes(one_part, 1);
  bool const gpu = devices.front().info().acts_as_gpu();
  // All devices are measured at once.
  auto const count = static_cast<unsigned>(devices.size());
  // The CPU device runs kernels of several lanes side by side, if there are as many.
  unsigned const threads = gpu ? gpu_threads : std::max(1U, setting.pipeline.lanes / count);
  Layout const single = layout_of(stride, 1, threads),
               batched = layout_of(stride, setting.pipeline.tuning.batch, threads);
  // A larger copy has no less set-up to speak of. On a model, where a part has few milliseconds, few of them would
  // count; and copies that the run does not make would only take time.
  bool const modelled = devices.front().info().modelled;
  Layout const copied_at_once = modelled && batched.batch * stride > large
                                    ? layout_of(stride, std::max<std::size_t>(1, large / stride), threads)
                                    : batched;
  // A producer needs at least one tile, and the run itself has two for each.
  bool const fills = alone.fill && shape.input_bytes > 0 && producers > 0;
  bool const fills_twice = fills && producers <= threads_at_once(devices.front().info(), Topology::detect()) / 2;
  std::size_t const filled_at_once = std::clamp<std::size_t>(
      std::min(most_bytes / stride, Pool::max_tiles / (2 * std::max<std::size_t>(1, producers))), 1, most_depth);
  // The first device's memory is also filled.
  PinnedForEach const pinned(
      devices, stop, std::max(single.bytes(), batched.bytes()),
      fills ? Pool::slab_bytes(shape, std::size_t{producers} * (fills_twice ? 2 : 1) * filled_at_once) : 0);
  auto const bench_of = [&](Layout const& layout, unsigned thread) {
    Device& device = *devices.all()[thread % count];
    device.attach();
    return std::make_unique<PartBench>(device, layout.of(pinned.of(thread % count), thread / count), stride,
                                       layout.batch);
  };
  PartsInTime parts(devices, each, stop);
  auto const copies = [&](Layout const& layout, bool up, bool down) {
    return parts.rate(count * layout.threads, {}, [&, up, down](unsigned thread) -> std::function<std::size_t()> {
      std::shared_ptr<PartBench> const bench = bench_of(layout, thread);
      return [bench, up, down] { return bench->copy(up, down); };
    });
  };
  Ceilings ceilings;
  // A part that is smaller than the other takes less time than is measured.
  bool const in = shape.input_bytes == largest;
  bool const out = shape.output_bytes == largest;
  auto const each_way = [&](Layout const& layout, auto& up, auto& down, auto& both) {
    if (in) up = copies(layout, true, false);
    if (out) down = copies(layout, false, true);
    both = in && out ? std::optional(copies(layout, true, true)) : in ? up : down;
  };
  // A setting that maps all tiles copies none.
  bool const copied = setting.pipeline.tuning.transport != Transport::mapped;
  if (copied && (batched.batch == 1 || !modelled)) each_way(single, ceilings.upload, ceilings.download, ceilings.both);
  if (copied && batched.batch > 1)
    each_way(copied_at_once, ceilings.batched_upload, ceilings.batched_download, ceilings.batched_both);
  JobWork const work = measured_work_of(setting, memory, stop);
  if (alone.stage && one_input && work.stages.make) {
    Stages const& stages = work.stages;
    std::optional<double> const others = lowest(ceilings, direction_of(shape));
    std::mutex filling;  // A job is asked for one source at a time.
    auto const put_input = [&](std::span<std::byte> tiles) {
      std::scoped_lock const lock(filling);
      put_tiles(work.source, shape, stride, tiles);
    };
    auto const computed = [&](Layout const& layout, bool small) {
      return parts.rate(count * layout.threads, others, [&, small](unsigned thread) -> std::function<std::size_t()> {
        struct Computing {
          std::unique_ptr<Stage> stage;
          std::unique_ptr<PartBench> bench;  ///< It is destroyed first: its streams use objects of the stage.
        };
        auto const it = std::make_shared<Computing>();
        it->bench = bench_of(layout, thread);
        it->stage = stages.make({*devices.all()[thread % count], it->bench->stream(), shape, thread});
        it->stage->prepare(it->bench->stream());
        if (alone.fill) {
          put_input(layout.of(pinned.of(thread % count), thread / count).first(layout.of_thread() / 2));
          for (std::size_t i = 0; i < layout.depth; ++i) it->bench->copy(true, false);
        }
        return [it, shape, small] {
          return small ? it->bench->pass(*it->stage, shape) : it->bench->compute(*it->stage, shape);
        };
      });
    };
    // Kernels of few blocks leave room for those of more streams. Streams are doubled as long as that gains, unless
    // something else is by far the lowest of the ceilings.
    constexpr double gains = 1.25;
    ceilings.kernel = computed(batched, false);
    Layout widest = batched;
    for (Layout more = batched; gpu && more.depth > 2 && more.threads < most_streams && !stop.stop_requested();) {
      if (others && *ceilings.kernel >= gains * *others) break;
      more.depth /= 2;
      more.threads *= 2;
      double const before = *ceilings.kernel, now = computed(more, false);
      if (now < gains * before) break;
      ceilings.kernel = now;
      widest = more;
    }
    // Kernels may take as long for small tiles, so calls are made in as many streams.
    if (copied) ceilings.submission = computed(widest, true);
  }
  if (fills) {
    std::optional<double> const others = lowest(ceilings, direction_of(shape));
    auto const filled = [&](unsigned by) {
      std::size_t const tiles = by * filled_at_once;
      Pool pool(pinned.of(0).first(Pool::slab_bytes(shape, tiles)), shape, tiles);
      RepeatedSource source(work.source, pool);
      std::mutex turn;
      std::uint64_t sequence = 0;
      return parts.rate(by, others, [&](unsigned) -> std::function<std::size_t()> {
        auto own = std::make_shared<std::vector<Loan>>();
        for (std::size_t i = 0; i < filled_at_once; ++i) own->push_back(pool.borrow());
        // One call serves several tiles, so that it takes next to no time; but `next` of a job may wait until its
        // earlier tiles are filled, as that of a compressed file does.
        bool const together = setting.job == nullptr;
        auto const ask_for = [&source, &sequence, &stop](Loan& tile) {
          tile->sequence = sequence++;
          bool const any = source.next(*tile);
          if (!any && !stop.stop_requested()) throw Error(ErrorKind::bad_argument, "The job's input has no tile.");
          return any;
        };
        return [&source, &turn, ask_for, together, own]() -> std::size_t {
          if (together) {
            std::scoped_lock const lock(turn);
            for (Loan& tile : *own) {
              if (!ask_for(tile)) return 0;
            }
          }
          for (Loan& tile : *own) {
            if (!together) {
              std::scoped_lock const lock(turn);
              if (!ask_for(tile)) return 0;
            }
            tile->filled = source.fill(*tile);
          }
          HostTime::pay();
          return own->size();
        };
      });
    };
    ceilings.fill = filled(producers);
    // More threads than CPUs would share the CPUs.
    if (fills_twice) ceilings.fill_twice = filled(2 * producers);
  }
  return {ceilings, parts.late()};
}

MeasuredCeilings measure_link(DeviceGroup const& devices, Direction direction, std::chrono::nanoseconds each,
                              std::stop_token const& stop) {
  PinnedForEach const pinned(devices, stop, 4 * large);
  PartsInTime parts(devices, each, stop);
  auto const bytes_per_second = [&](bool up) {
    auto const threads = static_cast<unsigned>(devices.size());
    return large * parts.rate(threads, {}, [&, up](unsigned thread) -> std::function<std::size_t()> {
      Device& device = *devices.all()[thread];
      device.attach();
      auto const bench = std::make_shared<PartBench>(device, pinned.of(thread), large, 1);
      return [bench, up] { return bench->copy(up, !up); };
    });
  };
  Ceilings ceilings;
  if (direction != Direction::out) ceilings.link_up = bytes_per_second(true);
  if (direction != Direction::in) ceilings.link_down = bytes_per_second(false);
  return {ceilings, parts.late()};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
