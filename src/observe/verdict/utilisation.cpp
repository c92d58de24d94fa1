// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/utilisation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace penstock {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Part that a sum of the threads' times is of all time of `threads` threads.
double share_of(double sum, double wall, unsigned threads) {
  return std::clamp(sum / (wall * std::max(threads, 1u)), 0.0, 1.0);
}

/// Factor by which a run may exceed the throughput of a part alone, since both vary. If it exceeds it by more, the
/// measurement of the part alone was disturbed.
constexpr double stray = 1.1;

/// Copies that took longer by this factor than their bytes take alone waited for something other than the link.
constexpr double waiting = 3;

void add_part(Utilisation& use, Bound part, std::optional<double> time, std::optional<double> ceiling) {
  if (ceiling && (*ceiling <= 0 || use.rate > stray * *ceiling)) ceiling.reset();
  double const reached = ceiling ? std::min(1.0, use.rate / *ceiling) : 0;
  bool const copies = part == Bound::upload || part == Bound::download;
  if (copies && ceiling && time.value_or(0) > waiting * reached) time.reset();
  double const share = std::max(time.value_or(0), reached);
  if (share > 0) use.parts.push_back({part, share, time, ceiling, use.rate / share});
}

/// Ceiling of copies in one direction with as many in the other direction as here: between the ceiling alone and that
/// of both.
std::optional<double> link_ceiling(std::optional<double> alone, std::optional<double> both, RunFigures const& figures) {
  double const most = std::max(figures.bytes_up, figures.bytes_down);
  double const beside = most > 0 ? std::min(figures.bytes_up, figures.bytes_down) / most : 0;
  if (!alone || !both) return alone;
  return *alone + beside * (*both - *alone);
}

void add_device(Utilisation& use, RunFigures const& figures, Ceilings const& ceilings) {
  std::optional<double> up, down, kernel;
  if (figures.overlap && (figures.overlap->speed_of_light || figures.shares == SharedStream::stage)) {
    auto const part = [&](std::chrono::nanoseconds busy) {
      return static_cast<double>(busy.count()) / static_cast<double>(figures.overlap->window.count());
    };
    up = part(figures.overlap->uploading);
    down = part(figures.overlap->downloading);
    if (figures.shares == SharedStream::none) kernel = part(figures.overlap->computing);
  }
  if (figures.bytes_up > 0) {
    add_part(use, Bound::upload, up, link_ceiling(ceilings.run_upload(), ceilings.run_both(), figures));
  }
  if (figures.bytes_down > 0) {
    add_part(use, Bound::download, down, link_ceiling(ceilings.run_download(), ceilings.run_both(), figures));
  }
  add_part(use, Bound::kernel, kernel, ceilings.kernel);
}

/// A lane that is not idle passes work to the device, or takes it back.
void add_lanes(Utilisation& use, RunFigures const& figures, Ceilings const& ceilings) {
  std::optional<double> enqueuing, busy;
  if (figures.enqueue) busy = enqueuing = share_of(*figures.enqueue, figures.wall, figures.lanes);
  if (figures.lane_idle) {
    busy = std::max(1 - share_of(*figures.lane_idle, figures.wall, figures.lanes), enqueuing.value_or(0));
  }
  bool const mostly_retiring = enqueuing && busy && *enqueuing < *busy / 2;
  add_part(use, Bound::submission, mostly_retiring ? enqueuing : busy, ceilings.submission);
  if (mostly_retiring) add_part(use, Bound::completion, busy, {});
}

void add_cpus(Utilisation& use, RunFigures const& figures) {
  double const lanes_busy =
      figures.lane_idle ? figures.wall * figures.lanes - *figures.lane_idle : figures.enqueue.value_or(0);
  double const threads = figures.fill + figures.sink + lanes_busy;
  use.cpu_seconds = figures.cpu_time.value_or(threads);
  if (figures.cpus == 0 || use.cpu_seconds <= 0) return;
  double const all = figures.cpus * figures.wall;
  // The others' time is that of the whole run, and the own one is exact: others had no more than that left.
  double free = unbounded;
  if (figures.cpu_time) free = std::max(0.0, 1 - use.cpu_seconds / all);
  double const others = std::min(figures.cpu_of_others / all, free);
  use.cpus = {.own = use.cpu_seconds / all,
              .others = others,
              .not_told = figures.cpu_time ? std::min(figures.cpu_not_told / all, free - others) : 0.0};
  // With a GPU, threads may poll it, and could do other work instead.
  double const at_work = figures.gpu ? std::min(use.cpu_seconds, threads) : use.cpu_seconds;
  // A process that uses little of the CPUs may as well sleep while others are busy.
  constexpr double nothing_left = 0.95, much = 0.5;
  use.cpus_full = figures.cpu_time && at_work / all >= much && at_work / all + use.cpus->others >= nothing_left;
}

/// Throughput of lanes that are busy for `share` of their time, part of it with passing tiles to the device.
double lanes_with(double times, PartUse const& lanes, RunFigures const& figures) {
  double const threads = std::max(figures.lanes, 1U);
  double const giving = std::min(lanes.share, figures.enqueue.value_or(0) / (figures.wall * threads));
  return lanes.most * lanes.share / (giving / times + lanes.share - giving);
}

}  // namespace

double PartUse::likely() const noexcept {
  return ceiling ? std::sqrt(most * std::max(most, *ceiling)) : most;
}

PartUse const* Utilisation::find(Bound part) const noexcept {
  auto const found = std::find_if(parts.begin(), parts.end(), [&](PartUse const& use) { return use.part == part; });
  return found == parts.end() ? nullptr : &*found;
}

PartUse const* Utilisation::busiest(std::initializer_list<Bound> but_for) const noexcept {
  PartUse const* most_used = nullptr;
  for (PartUse const& use : parts) {
    if (std::find(but_for.begin(), but_for.end(), use.part) != but_for.end()) continue;
    if (most_used == nullptr || use.share > most_used->share) most_used = &use;
  }
  return most_used;
}

Utilisation utilisation_of(RunFigures const& figures, Ceilings const& ceilings) {
  Utilisation use;
  use.rate = static_cast<double>(figures.tiles) / figures.wall;
  use.payload = figures.bytes_up > 0     ? figures.bytes_up
                : figures.bytes_down > 0 ? figures.bytes_down
                                         : figures.tile_bytes;
  add_device(use, figures, ceilings);
  if (figures.producers > 0) {
    double const filling = share_of(figures.fill, figures.wall, figures.producers);
    double const borrowing = std::min(share_of(figures.borrow_wait, figures.wall, figures.producers), 1 - filling);
    use.producers = {borrowing, filling, 1 - filling - borrowing};
    add_part(use, Bound::fill, filling, ceilings.fill);
  }
  add_part(use, Bound::sink, share_of(figures.sink, figures.wall, figures.sinks), {});
  add_lanes(use, figures, ceilings);

  add_cpus(use, figures);
  return use;
}

double Utilisation::cpus_most(double saved) const {
  if (!cpus) return unbounded;
  constexpr double least_left = 0.1;  // Minimum of the CPU time that a tile takes, whatever is saved.
  double const own = cpus->own * std::max(least_left, 1 - saved / cpu_seconds);
  return rate * std::max(1.0, (1 - std::min(cpus->others, 1.0)) / own);
}

double LinkWay::most() const {
  if (use == nullptr) return unbounded;
  return use->most;
}

double LinkWay::moving() const {
  return std::min(alone(), bytes / *link);
}

double LinkWay::set_up() const {
  double const undisturbed = one_way && *one_way > 0 ? std::min(alone(), 1 / *one_way) : alone();
  return std::max(0.0, undisturbed - moving());
}

double LinkWay::most_with(double together) const {
  return known() ? most() * alone() / (alone() - set_up() + set_up() / together) : most();
}

LinkWay way_up(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use) {
  return {"up", use.find(Bound::upload), ceilings.link_up, ceilings.run_upload(), figures.bytes_up};
}

LinkWay way_down(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use) {
  return {"down", use.find(Bound::download), ceilings.link_down, ceilings.run_download(), figures.bytes_down};
}

double most_with_batches(double times, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use) {
  double most =
      std::min(way_up(figures, ceilings, use).most_with(times), way_down(figures, ceilings, use).most_with(times));
  for (PartUse const& part : use.parts) {
    if (part.part == Bound::upload || part.part == Bound::download) continue;
    bool const lanes = part.part == Bound::submission || part.part == Bound::completion;
    double const alone = part.part == Bound::kernel ? part.ceiling.value_or(part.most) : part.likely();
    most = std::min(most, lanes ? lanes_with(times, part, figures) : alone);
  }
  return most;
}

}  // namespace penstock
