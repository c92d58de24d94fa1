// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "penstock/core/number_text.hpp"
#include "penstock/core/usual_sizes.hpp"
#include "penstock/report/limits.hpp"

namespace penstock {
namespace {

constexpr double nearly_all = 0.8;  ///< As find_bound has it.
constexpr double infinite = std::numeric_limits<double>::infinity();

std::string whole_size_text(double bytes) {
  return size_text(static_cast<std::uint64_t>(std::llround(bytes)));
}

class Adviser {
 public:
  Adviser(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use)
      : finding_(finding),
        figures_(figures),
        ceilings_(ceilings),
        use_(use),
        part_(use.find(finding.bound)),
        offers_(use.rate, next_limit(finding, use)) {}

  std::vector<Advice> advice() {
    // Parts take turns on a lane then, and what less of one would bring is not known.
    if (figures_.to_completion) return {};
    switch (finding_.bound) {
      case Bound::upload:
      case Bound::download:
        copies();
        break;
      case Bound::kernel:
        kernels();
        break;
      case Bound::fill:
        producers();
        break;
      case Bound::sink:
        sink();
        break;
      case Bound::submission:
        lanes();
        break;
      case Bound::completion:
        part_ != nullptr ? lanes() : notice();
        break;
      case Bound::too_few_tiles:
        more_tiles();
        break;
      case Bound::serialising_stream:
        turns();
        break;
      case Bound::source_waits:
      case Bound::nothing_measured:
        break;
    }
    return offers_.best();
  }

 private:
  double most() const { return part_ != nullptr ? part_->most : use_.rate; }
  /// "in use 97 % of the time", of a part that is the bound.
  std::string used() const {
    bool const by_time = part_->time && *part_->time >= part_->share;
    return by_time ? "in use " + percent_text(part_->share) + " of the time"
                   : "at " + percent_text(part_->share) + " of what they reach alone";
  }

  void copies() {
    LinkWay way = way_up(figures_, ceilings_, use_), other = way_down(figures_, ceilings_, use_);
    if (finding_.bound == Bound::download) std::swap(way, other);
    if (way.use == nullptr) return;
    double const ceiling = way.use->ceiling.value_or(0);
    double const time = way.use->time.value_or(0);
    constexpr double far_slower = 1.25;
    if (ceiling > use_.rate && time > far_slower * use_.rate / ceiling) {
      offers_.option(
          "tiles and threads next to the device: without --no-bind; `penstock doctor` shows what the link does",
          std::min(ceiling, other.most()),
          "Copies " + way.name + " took " + percent_text(time) + " of the time for " +
              percent_text(use_.rate / ceiling) + " of what they reach alone.");
    }
    larger_copies(way, other);
    bool const both = other.most() < 1.5 * way.most();
    offers_.work(
        "half the bytes " + (both ? "each way" : way.name) + ": narrower types, or packed, for the stage to unpack",
        both ? 2 * std::min(way.most(), other.most()) : std::min(2 * way.most(), other.most()),
        "Copies are the bound, and half the bytes take half the time.");
  }

  /// Larger batches, as long as these are of use; else larger tiles.
  void larger_copies(LinkWay const& way, LinkWay const& other) {
    constexpr double nearly = 1.05;
    constexpr double most_together = 64;
    if (!way.known() || way.bytes < figures_.tile_bytes / 2 || way.set_up() < (nearly - 1) * way.moving()) return;
    double together = 2;
    while (together < most_together && way.most_with(together) * nearly < way.most_with(infinite)) together *= 2;
    std::string const why = "Of the " + seconds_text(way.alone()) + " that " + whole_size_text(way.bytes) + " take " +
                            way.name + ", " + seconds_text(way.set_up()) + " are set-up.";
    unsigned const now = std::max(figures_.batch, 1U);
    unsigned const batch = std::min(static_cast<unsigned>(together) * now, figures_.usual_batch);
    if (batch >= 2 * now) {
      offers_.whole(batch_text(figures_, batch),
                    most_with_batches(static_cast<double>(batch) / now, figures_, ceilings_, use_), why);
    } else {
      offers_.option("--tile " + size_option(together * figures_.tile_bytes),
                     std::min(way.most_with(together), other.most_with(together)), why);
    }
  }

  void kernels() {
    // Kernels of few blocks: beside those of the lanes that there are, others find room.
    double const alone = part_ != nullptr ? part_->ceiling.value_or(0) : 0;
    if (figures_.gpu && alone * nearly_all > use_.rate) more_lanes_for_kernels(alone);
    offers_.work("a kernel that takes half the time", 2 * most(), "Kernels are " + used() + ".");
    if (!figures_.gpu) return;
    offers_.work("a second GPU, if there is one, for half of the lanes", at_most(2 * most()),
                 "Kernels on this one are " + used() + ".");
  }

  /// As many threads more as there are, or as CPUs are free.
  unsigned more(unsigned threads) const {
    if (!std::isfinite(use_.cpus_most)) return threads;
    double const busy = figures_.cpus * use_.rate / use_.cpus_most;
    auto const free = static_cast<unsigned>(std::max(0.0, std::round(figures_.cpus - busy)));
    return std::min(threads, free);
  }
  unsigned now_and_more(unsigned threads) const { return threads + more(threads); }
  std::string free_text() const {
    return figures_.cpus > 0 ? ", and there are " + std::to_string(figures_.cpus) + " CPUs" : "";
  }

  void producers() {
    // More of them than tiles would only wait.
    auto const tiles = static_cast<unsigned>(std::min<std::uint64_t>(figures_.pool, now_and_more(figures_.producers)));
    unsigned const now = figures_.producers, then = std::max(now, tiles);
    double factor = static_cast<double>(then) / now;
    if (ceilings_.fill && ceilings_.fill_twice && *ceilings_.fill > 0) {
      // What threads lose to each other grows with their number, as by Amdahl's law; twice as many show the part.
      double const twice = std::clamp(*ceilings_.fill_twice / *ceilings_.fill, 1.0, 2.0);
      double const shared = (2 - twice) / (twice * (2 * now - 1) - 2 * (now - 1.0));
      factor *= (1 + shared * (now - 1)) / (1 + shared * (then - 1));
    }
    offers_.option(option_text("--producers", then), std::min(most() * factor, use_.cpus_most),
                   (now == 1 ? "The only one fills " : "All " + std::to_string(now) + " fill ") +
                       percent_text(use_.producers->filling) + " of the time" + free_text() + ".");
    if (ceilings_.fill) {
      offers_.work("a source that fills in place and in one pass", *ceilings_.fill,
                   "As many threads that only copy fill " + rate_text(*ceilings_.fill * use_.payload) + ".");
    }
    offers_.work("a source that takes half the time", 2 * most(), "Filling is the bound.");
  }

  void sink() {
    unsigned const now = std::max(figures_.sinks, 1u), then = now + more(now);
    std::string const change = option_text("--consumers", std::max(then, figures_.consumers));
    offers_.option(now > 1 ? change : change + " and a sink that they may call at once (parallel_sink)",
                   std::min(most() * then / now, use_.cpus_most),
                   "The sink is busy " + percent_text(part_->share) + " of the time" + free_text() + ".");
    offers_.work("a sink that takes half the time", 2 * most(), "The sink is the bound.");
  }

  bool larger_batches() {
    unsigned const now = std::max(figures_.batch, 1u), then = figures_.usual_batch;
    if (then < 2 * now) return false;
    offers_.whole(batch_text(figures_, then),
                  most_with_batches(static_cast<double>(then) / now, figures_, ceilings_, use_),
                  "What a lane calls to give tiles to the device hardly depends on how many they are.");
    return true;
  }

  void lanes() {
    larger_batches();
    constexpr double larger = 4;  // So much that the bound moves to another part; how much is best a sweep says.
    double const filled = std::max(figures_.bytes_up, figures_.bytes_down);
    if (filled > 0 && filled < figures_.tile_bytes / 2) {
      offers_.work("fuller tiles", most() * figures_.tile_bytes / filled,
                   "A tile holds " + whole_size_text(filled) + " of " + whole_size_text(figures_.tile_bytes) + ".");
    } else if (figures_.tile_bytes > 0) {
      offers_.option("--tile " + size_option(larger * figures_.tile_bytes), larger * most(),
                     "What a lane does for a tile hardly depends on its size.");
    }
    unsigned const now = std::max(figures_.lanes, 1u), then = now + more(now);
    double const calls = part_->part == Bound::submission ? part_->ceiling.value_or(infinite) : infinite;
    offers_.option(option_text("--lanes", then), std::min({most() * then / now, calls, use_.cpus_most}),
                   "Lanes are " + used() + free_text() + ".");
  }

  void notice() {
    // By Little's law a tile is in flight for so long.
    double const in_flight = *figures_.in_flight / use_.rate,
                 notice = *figures_.notice / static_cast<double>(figures_.tiles);
    if (figures_.signal != "event_poll" && figures_.signal != "flag") {
      offers_.option("--signal event_poll", *figures_.in_flight / std::max(in_flight - notice / 2, in_flight / 2),
                     "It takes at most half as long to notice, for up to a CPU a lane while tiles are in flight.");
    }
    // Each small tile that a GPU is given alone costs calls and a message of its own, with more slots, too.
    if (figures_.gpu && figures_.tile_bytes < static_cast<double>(large_tile) && larger_batches()) return;
    more_slots("Those that wait to be noticed leave room for as many others.");
  }

  /// A run of no more tiles than are in flight at once gains nothing of room for more.
  bool has_more_tiles_than_slots() const {
    return figures_.tiles > std::uint64_t{std::max(figures_.lanes, 1u)} * std::max(figures_.slots, 1u);
  }

  void more_slots(std::string const& why) {
    if (!has_more_tiles_than_slots()) return;
    std::uint64_t const then = std::uint64_t{2} * std::max(figures_.slots, 1u);
    offers_.option(slots_text(figures_, then, figures_.batch), 2 * use_.rate, why);
  }

  void more_tiles() {
    if (finding_.room == Room::pool) {
      std::uint64_t const wanted = tiles_for(figures_, figures_.slots, figures_.batch);
      double const factor =
          static_cast<double>(wanted) / static_cast<double>(std::max<std::uint64_t>(figures_.pool, 1));
      offers_.option(option_text("--tiles", wanted), factor * use_.rate,
                     "Producers wait for tiles, and lanes have slots left.");
    }
    if (finding_.room != Room::slots || !has_more_tiles_than_slots()) return;
    double const slots = static_cast<double>(figures_.lanes) * figures_.slots;
    bool const full = figures_.in_flight.value_or(slots) >= nearly_all * slots;
    more_slots(full ? "All slots are in use, and no part is busy."
                    : "All tiles are on their way, and no part is busy.");
    unsigned const now = std::max(figures_.lanes, 1u), then = now + more(now);
    offers_.option(option_text("--lanes", then), std::min(use_.rate * then / now, use_.cpus_most),
                   "Each brings slots of its own.");
  }

  void more_lanes_for_kernels(double alone) {
    unsigned const now = std::max(figures_.lanes, 1u), then = now + more(now);
    offers_.option(option_text("--lanes", then), at_most(std::min(alone, use_.rate * then / now)),
                   "Kernels alone reach " + rate_text(alone * use_.payload) + " in several streams.");
  }

  /// What the host has CPUs for: on the CPU device they are the device, too.
  double at_most(double rate) const { return std::min(rate, use_.cpus_most); }

  void turns() {
    unsigned const lanes = std::max(figures_.lanes, 1u);
    std::string const at_once = "Work that waits in one stream could go on at once.";
    switch (finding_.turns) {
      case Turns::legacy_stream:
        offers_.option("--streams own", at_most(lanes * use_.rate), "Each lane computes in a stream of its own then.");
        offers_.option(per_thread_instead, at_most(lanes * use_.rate), "Stream 0 is another one for each lane then.");
        break;
      case Turns::single_stream:
        offers_.option("--shape split", at_most(3 * use_.rate), at_once);
        offers_.option(option_text("--lanes", 2), at_most(2 * use_.rate), at_once);
        break;
      case Turns::one_lane:
        more_lanes_for_kernels(use_.find(Bound::kernel)->ceiling.value_or(0));
        break;
      case Turns::barrier:
        offers_.work("a stage that gives its work to the stream and returns", figures_.slots * use_.rate,
                     "A lane that does not wait has " + count_text(figures_.slots, "tile") + " in flight.");
        break;
      case Turns::unknown:
        offers_.work("a stage that neither waits for the device nor names stream 0", infinite, at_once);
        break;
      case Turns::none:
        break;
    }
  }

  Finding const finding_;
  RunFigures const& figures_;
  Ceilings const& ceilings_;
  Utilisation const& use_;
  PartUse const* const part_;  ///< That is the bound; null if none is.
  Offers offers_;
};

}  // namespace

std::vector<Advice> advice_for(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                               Utilisation const& use) {
  return Adviser(finding, figures, ceilings, use).advice();
}

}  // namespace penstock
