// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/device_advice.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

/// Offers larger batches, as long as these help; else larger tiles.
void larger_copies(Judged const& run, LinkWay const& way, LinkWay const& other) {
  constexpr double nearly = 1.05;
  constexpr double most_together = 64;
  RunFigures const& figures = run.figures;
  if (!way.known() || way.bytes < figures.tile_bytes / 2 || way.set_up() < (nearly - 1) * way.moving()) return;
  double together = 2;
  while (together < most_together && way.most_with(together) * nearly < way.most_with(infinite)) together *= 2;
  auto const whole = static_cast<std::uint64_t>(std::llround(way.bytes));
  std::string const why = "Of the " + seconds_text(way.alone()) + " that " + size_text(whole) + " take " + way.name +
                          ", " + seconds_text(way.set_up()) + " are set-up.";
  unsigned const now = std::max(figures.batch, 1U);
  unsigned const batch = std::min(static_cast<unsigned>(together) * now, figures.usual_batch);
  if (batch >= 2 * now) {
    run.offers.whole(batch_text(figures, batch),
                     most_with_batches(static_cast<double>(batch) / now, figures, run.ceilings, run.use), 0, why);
  } else {
    run.offers.option("--tile " + size_option(together * figures.tile_bytes),
                      std::min(way.most_with(together), other.most_with(together)), why);
  }
}

/// Kernels of few blocks leave room for those of more lanes.
void more_lanes_for_kernels(Judged const& run, double alone) {
  unsigned const now = std::max(run.figures.lanes, 1u), then = now + run.more(now);
  run.more_lanes(std::min(alone, run.use.rate * then / now),
                 "Kernels alone reach " + rate_text(alone * run.use.payload) + " in several streams.");
}

/// True if the throughput alone was measured for each part of the device that a tile needs.
bool all_alone_known(Judged const& run) {
  auto const known = [&](Bound part) {
    PartUse const* const found = run.use.find(part);
    return found != nullptr && found->ceiling.has_value();
  };
  RunFigures const& figures = run.figures;
  bool const up = figures.bytes_up > 0, down = figures.bytes_down > 0;
  // Copies with their own streams have times.
  bool const copies =
      figures.shares != SharedStream::all || ((!up || known(Bound::upload)) && (!down || known(Bound::download)));
  return copies && known(Bound::kernel);
}

}  // namespace

std::string Judged::used() const {
  bool const by_time = part()->time && *part()->time >= part()->share;
  return by_time ? "in use " + percent_text(part()->share) + " of the time"
                 : "at " + percent_text(part()->share) + " of what they reach alone";
}

unsigned Judged::more(unsigned threads) const {
  if (!use.cpus) return threads;
  return std::min(threads, static_cast<unsigned>(std::round(figures.cpus * use.cpus->left())));
}

void Judged::more_lanes(double reached, std::string why) const {
  if (figures.shares != SharedStream::none || figures.one_lane) return;
  unsigned const now = std::max(figures.lanes, 1u);
  offers.option(option_text("--lanes", now + more(now)), reached, std::move(why));
}

void advise_on_copies(Judged const& run) {
  LinkWay way = way_up(run.figures, run.ceilings, run.use), other = way_down(run.figures, run.ceilings, run.use);
  if (run.finding.bound == Bound::download) std::swap(way, other);
  if (way.use == nullptr) return;
  double const rate = run.use.rate;
  double const ceiling = way.use->ceiling.value_or(0);
  double const time = way.use->time.value_or(0);
  constexpr double far_slower = 1.25;
  if (run.figures.gpu && ceiling > rate && time > far_slower * rate / ceiling) {
    run.offers.option(
        "tiles and threads next to the device: with --bind node; `penstock doctor` shows what the link does",
        std::min(ceiling, other.most()),
        "Copies " + way.name + " took " + percent_text(time) + " of the time for " + percent_text(rate / ceiling) +
            " of what they reach alone.");
  }
  larger_copies(run, way, other);
  advise_to_map(run);
  bool const both = other.most() < 1.5 * way.most();
  run.offers.work(
      "half the bytes " + (both ? "each way" : way.name) + ": narrower types, or packed, for the stage to unpack",
      std::min(2 * rate, both ? 2 * std::min(way.most(), other.most()) : other.most()),
      "Copies are the bound, and half the bytes take half the time.");
}

void advise_on_kernels(Judged const& run) {
  PartUse const* const part = run.part();
  double const alone = part != nullptr ? part->ceiling.value_or(0) : 0;
  if (run.figures.gpu && alone * nearly_all > run.use.rate) more_lanes_for_kernels(run, alone);
  run.offers.work("a kernel that takes half the time", 2 * run.use.rate, "Kernels are " + run.used() + ".");
  if (!run.figures.gpu) return;
  run.offers.work("a second GPU, if there is one, for half of the lanes",
                  std::min(2 * run.use.rate, run.use.cpus_most()), "Kernels on this one are " + run.used() + ".");
}

void advise_on_turns(Judged const& run) {
  double const rate = run.use.rate;
  unsigned const lanes = std::max(run.figures.lanes, 1u);
  std::string const at_once = "Work that waits in one stream could go on at once.";
  switch (run.finding.turns) {
    case Turns::legacy_stream:
      // Times of steps in a shared stream are unknown, so the throughputs alone must be known.
      if (!all_alone_known(run)) break;
      run.offers.option("--streams own", lanes * rate, "Each lane computes in a stream of its own then.");
      run.offers.option(per_thread_instead, lanes * rate, "Stream 0 is another one for each lane then.");
      break;
    case Turns::single_stream:
      run.offers.option("--shape split", 3 * rate, at_once);
      run.more_lanes(2 * rate, at_once);
      break;
    case Turns::one_lane:
      more_lanes_for_kernels(run, run.use.find(Bound::kernel)->ceiling.value_or(0));
      break;
    case Turns::barrier:
      run.offers.work("a stage that gives its work to the stream and returns", run.figures.slots * rate,
                      "A lane that does not wait has " + count_text(run.figures.slots, "tile") + " in flight.");
      break;
    case Turns::unknown:
      run.offers.work("a stage that neither waits for the device nor names stream 0", infinite, at_once);
      break;
    case Turns::none:
      break;
  }
}

void advise_to_map(Judged const& run) {
  if (!run.figures.copies_in_vain || !run.use.cpus || !run.figures.overlap) return;
  std::chrono::duration<double> const copying = run.figures.overlap->uploading + run.figures.overlap->downloading;
  // A kernel then reads data that no copy has brought near, so some of the time is not saved.
  double const saved =
      copying.count() * run.figures.wall / std::chrono::duration<double>(run.figures.overlap->window).count();
  constexpr double mostly = 0.85;
  double const reached = 1 + mostly * (run.use.cpus_most(saved) / run.use.rate - 1);
  run.offers.work("a stage that promises reads_once (Promises), if it reads and writes each byte about once",
                  reached * run.use.rate,
                  "The CPU device copied for " + percent_text(saved / run.figures.wall) +
                      " of the time, and works in the host's memory with that promise.");
}

}  // namespace penstock
