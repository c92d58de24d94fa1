// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "engine/core/number_text.hpp"
#include "engine/plan/usual_sizes.hpp"
#include "observe/verdict/limits.hpp"

namespace penstock {
namespace {

std::string whole_size_text(double bytes) {
  return size_text(static_cast<std::uint64_t>(std::llround(bytes)));
}

/// Advice on the host's work for tiles, and on their number.
class HostAdviser {
 public:
  explicit HostAdviser(Judged const& run)
      : run_(run), figures_(run.figures), use_(run.use), offers_(run.offers), rate_(run.use.rate) {}

  void producers() const {
    // More producers than tiles would only wait.
    unsigned const now = figures_.producers;
    auto const tiles = static_cast<unsigned>(std::min<std::uint64_t>(figures_.pool, now + run_.more(now)));
    unsigned const then = std::max(now, tiles);
    offers_.option(option_text("--producers", then), std::min(rate_ * filling_by(then), taking_turns()),
                   (now == 1 ? "The only one fills " : "All " + std::to_string(now) + " fill ") +
                       percent_text(use_.producers->filling) + " of the time" + free_text() + ".");
    std::optional<double> const alone = run_.ceilings.fill;
    if (alone) {
      offers_.work("a source that fills in place and in one pass", *alone,
                   "As many threads that only copy fill " + rate_text(*alone * use_.payload) + ".");
    }
    offers_.work("a source that takes half the time", 2 * rate_, "Filling is the bound.");
  }

  void sink() const {
    unsigned const now = std::max(figures_.sinks, 1u), then = now + run_.more(now);
    std::string const change = option_text("--consumers", std::max(then, figures_.consumers));
    offers_.option(now > 1 ? change : change + " and a sink that they may call at once (parallel_sink)",
                   rate_ * then / now,
                   "The sink is busy " + percent_text(run_.part()->share) + " of the time" + free_text() + ".");
    offers_.work("a sink that takes half the time", 2 * rate_, "The sink is the bound.");
  }

  void lanes() const {
    larger_batches();
    constexpr double larger = 4;  // Large enough to move the bottleneck to another part; a sweep finds the best size.
    double const filled = std::max(figures_.bytes_up, figures_.bytes_down);
    double const saved = use_.cpus ? run_.part()->share * figures_.wall * figures_.lanes * (1 - 1 / larger) : 0;
    if (filled > 0 && filled < figures_.tile_bytes / 2) {
      offers_.work("fuller tiles", rate_ * figures_.tile_bytes / filled,
                   "A tile holds " + whole_size_text(filled) + " of " + whole_size_text(figures_.tile_bytes) + ".");
    } else if (figures_.tile_bytes > 0) {
      double const next = next_limit(run_.finding, use_).value_or(Limit{infinite, {}}).tiles_per_second;
      offers_.whole("--tile " + size_option(larger * figures_.tile_bytes), std::min(larger * rate_, next), saved,
                    "What a lane does for a tile hardly depends on its size.");
    }
    unsigned const now = std::max(figures_.lanes, 1u), then = now + run_.more(now);
    double const calls = run_.part()->part == Bound::submission ? run_.part()->ceiling.value_or(infinite) : infinite;
    run_.more_lanes(std::min(rate_ * then / now, calls), "Lanes are " + run_.used() + free_text() + ".");
  }

  void notice() const {
    // Time that a tile is in flight, by Little's law.
    double const in_flight = *figures_.in_flight / rate_,
                 notice = *figures_.notice / static_cast<double>(figures_.tiles);
    if (figures_.signal != "event_poll" && figures_.signal != "flag") {
      offers_.option("--signal event_poll", *figures_.in_flight / std::max(in_flight - notice / 2, in_flight / 2),
                     "It takes at most half as long to notice, for up to a CPU a lane while tiles are in flight.");
    }
    // Each small tile that a GPU gets alone costs its own calls and a message, however many slots there are.
    if (figures_.gpu && figures_.tile_bytes < static_cast<double>(large_tile) && larger_batches()) return;
    // With many of them a lane learns of many tiles at once, and with more of them no sooner.
    constexpr unsigned many = 32;
    if (figures_.slots >= many) return;
    more_slots(rate_ * 2 / (1 + busiest_share()), "Those that wait to be noticed leave room for as many others.");
  }

  void more_tiles() const {
    if (run_.finding.room == Room::pool) {
      std::uint64_t const wanted = tiles_for(figures_, figures_.slots, figures_.batch);
      double const factor =
          static_cast<double>(wanted) / static_cast<double>(std::max<std::uint64_t>(figures_.pool, 1));
      offers_.option(option_text("--tiles", wanted), factor * rate_,
                     "Producers wait for tiles, and lanes have slots left.");
    }
    if (run_.finding.room != Room::slots || !has_more_tiles_than_slots()) return;
    double const slots = static_cast<double>(slots_of_all(figures_));
    bool const full = figures_.in_flight.value_or(slots) >= nearly_all * slots;
    // Unused slots mean no lack of them: tiles were elsewhere.
    if (!full && figures_.in_flight) return;
    more_slots(2 * rate_, full ? "All slots are in use, and no part is busy."
                               : "All tiles are on their way, and no part is busy.");
    unsigned const now = std::max(figures_.lanes, 1u), then = now + run_.more(now);
    run_.more_lanes(rate_ * then / now, "Each brings slots of its own.");
  }

 private:
  std::string free_text() const {
    return figures_.cpus > 0 ? ", and there are " + std::to_string(figures_.cpus) + " CPUs" : "";
  }

  /// Speed-up of the filling by `then` producers.
  double filling_by(unsigned then) const {
    unsigned const now = figures_.producers;
    double const factor = static_cast<double>(then) / now;
    auto const& [fill, fill_twice] = std::pair(run_.ceilings.fill, run_.ceilings.fill_twice);
    if (!fill || !fill_twice || *fill <= 0) return factor;
    // Losses of threads to each other grow with their number, as in Amdahl's law; the measurement with twice as many
    // shows the shared part.
    double const twice = std::clamp(*fill_twice / *fill, 1.0, 2.0);
    double const shared = (2 - twice) / (twice * (2 * now - 1) - 2 * (now - 1.0));
    return factor * (1 + shared * (now - 1)) / (1 + shared * (then - 1));
  }

  /// Upper bound of a source that gives out its tiles one after the other.
  double taking_turns() const {
    double const in_turn = std::min(1.0, figures_.producers * use_.producers->waiting);
    return in_turn > 0 ? rate_ / in_turn : infinite;
  }

  double busiest_share() const {
    PartUse const* const busiest = use_.busiest();
    return busiest != nullptr ? busiest->share : 0;
  }

  bool larger_batches() const {
    unsigned const now = std::max(figures_.batch, 1u), then = figures_.usual_batch;
    if (then < 2 * now) return false;
    offers_.whole(batch_text(figures_, then),
                  most_with_batches(static_cast<double>(then) / now, figures_, run_.ceilings, use_), 0,
                  "What a lane calls to give tiles to the device hardly depends on how many they are.");
    return true;
  }

  /// A run with no more tiles than are in flight at once does not gain from room for more.
  bool has_more_tiles_than_slots() const { return figures_.tiles > slots_of_all(figures_); }

  void more_slots(double reached, std::string const& why) const {
    if (!has_more_tiles_than_slots()) return;
    std::uint64_t const then = std::uint64_t{2} * std::max(figures_.slots, 1u);
    offers_.option(slots_text(figures_, then, figures_.batch), reached, why);
  }

  Judged const& run_;
  RunFigures const& figures_;
  Utilisation const& use_;
  Offers& offers_;
  double const rate_;
};

}  // namespace

std::vector<Advice> advice_for(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                               Utilisation const& use) {
  // The parts alternate on a lane then, and the gain from less of one is unknown.
  if (figures.to_completion) return {};
  Offers offers(finding, use);
  Judged const run{finding, figures, ceilings, use, offers};
  HostAdviser const host(run);
  switch (finding.bound) {
    case Bound::upload:
    case Bound::download:
      advise_on_copies(run);
      break;
    case Bound::kernel:
      advise_on_kernels(run);
      break;
    case Bound::fill:
      host.producers();
      break;
    case Bound::sink:
      host.sink();
      break;
    case Bound::submission:
      host.lanes();
      break;
    case Bound::completion:
      run.part() != nullptr ? host.lanes() : host.notice();
      break;
    case Bound::too_few_tiles:
      host.more_tiles();
      break;
    case Bound::serialising_stream:
      advise_on_turns(run);
      break;
    case Bound::cpus:
      advise_to_map(run);
      break;
    case Bound::source_waits:
    case Bound::nothing_measured:
      break;
  }
  return offers.best();
}

}  // namespace penstock
