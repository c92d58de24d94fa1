// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <vector>

#include "engine/core/number_text.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/pool.hpp"
#include "engine/graph/tile_group.hpp"
#include "penstock/graph.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// Completions go straight from the lanes to the program's graph; an order needs the pipeline's own.
PipelineOptions options_in_graph(PipelineOptions options) {
  if (!options.host_stages.empty()) {
    throw Error(
        ErrorKind::bad_argument,
        "Lanes in a graph have no host stages: make each a node of the graph, before input() or behind output().");
  }
  options.tuning.sink_on_lanes = !options.ordered;
  return options;
}

}  // namespace

/// A group on its way through the lanes. The thread that completes its last tile delivers it.
struct GroupOnLanes {
  TileGroup group;
  std::atomic<std::size_t> open;  ///< Tiles that are not complete.
};

struct LanesInGraph::Parts {
  /// The group of a tile that is on a lane, and the tile's place in it.
  struct Place {
    std::atomic<bool> taken{false};
    GroupOnLanes* on_lanes = nullptr;
    std::size_t which = 0;
  };

  Parts(DeviceGroup const& devices, PipelineOptions options, Deliver on_completion, Lend on_spare)
      : home(std::make_shared<TilesHome>(devices, options_in_graph(std::move(options)))),
        pipeline(home->pipeline),
        places(pipeline.pool().size()),
        deliver(std::move(on_completion)),
        give(std::move(on_spare)) {}

  /// Lends each tile that is home. A thread that finds another at it leaves it to that one.
  void lend() noexcept {
    if (asked.fetch_add(1, std::memory_order_acq_rel) != 0) return;
    for (std::uint64_t seen = 1; seen != 0;) {
      lend_all();
      seen = asked.fetch_sub(seen, std::memory_order_acq_rel) - seen;
    }
  }
  void lend_all() noexcept {
    try {
      while (lending.load(std::memory_order_acquire)) {
        auto loan = pipeline.feed().try_borrow();
        if (!loan) return;
        if (!give(TileGroup::of(home, std::move(*loan)))) lending.store(false, std::memory_order_release);
      }
    } catch (...) {
      // There was no memory for a message: the next tile that comes home is another chance.
    }
  }

  /// Notes the outcome of one tile. The last of its group delivers the group.
  void complete(Completion completion) noexcept {
    Tile* const tile = completion.loan.release();
    Place& place = places[tile->index()];
    GroupOnLanes& on_lanes = *place.on_lanes;
    Completion& member = on_lanes.group.at(place.which);
    member.outcome = completion.outcome;
    member.failure = std::move(completion.failure);
    place.taken.store(false, std::memory_order_release);
    if (on_lanes.open.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::unique_ptr<GroupOnLanes> const whole(&on_lanes);
    deliver(std::move(whole->group));
  }

  OwnProcess const process;
  std::shared_ptr<TilesHome> const home;
  Pipeline& pipeline;
  std::vector<Place> places;  ///< Places by the index of the tile.
  Deliver const deliver;
  Lend const give;
  std::atomic<bool> lending{false};
  std::atomic<std::uint64_t> asked{0};  ///< Number of calls of `lend` that have not been answered.
  bool finished = false;
};

LanesInGraph::LanesInGraph(DeviceGroup const& devices, PipelineOptions options, Stages stages, Deliver deliver,
                           Lend lend)
    : parts_(std::make_unique<Parts>(devices, std::move(options), std::move(deliver), std::move(lend))) {
  parts_->pipeline.start(std::move(stages), [this](Completion& done) { parts_->complete(std::move(done)); });
  // In a child of fork the parts outlive this.
  parts_->home->tell([parts = parts_.get()] {
    if (parts->lending.load(std::memory_order_acquire)) parts->lend();
  });
}

LanesInGraph::~LanesInGraph() {
  stop_lending();
  if (left_to_parent(parts_)) return;
  parts_->home->tell(nullptr);
  if (parts_->finished) return;
  try {
    if (parts_->pipeline.snapshot().under_way() > 0) stop();
  } catch (std::bad_alloc const&) {
    stop();  // There may be something under way.
  }
  try {
    static_cast<void>(parts_->pipeline.drain());
  } catch (...) {
    // The pipeline ends its run itself, when the last message with one of its tiles has gone.
  }
}

TileGroup LanesInGraph::borrow(std::stop_token const& stop) const {
  if (stop.stop_possible()) {
    auto loan = parts_->pipeline.feed().borrow(stop);
    return loan ? TileGroup::of(parts_->home, std::move(*loan)) : TileGroup();
  }
  return TileGroup::of(parts_->home, parts_->pipeline.feed().borrow());
}

std::optional<TileGroup> LanesInGraph::try_borrow() const {
  auto loan = parts_->pipeline.feed().try_borrow();
  if (!loan) return std::nullopt;
  return TileGroup::of(parts_->home, std::move(*loan));
}

void LanesInGraph::expect_types(TileTypes const& types) const {
  TileShape const& shape = parts_->pipeline.options().tile;
  bool const fits = types.input[0].goes_with(shape.types.input[0]) &&
                    (shape.output_bytes == 0 || types.output.goes_with(shape.types.output));
  if (fits) return;
  throw Error(ErrorKind::bad_argument,
              "The messages of these lanes are for other elements than the tiles: name the same types in Lanes and in "
              "tile_of.");
}

void LanesInGraph::submit(TileGroup const& group) {
  Parts& parts = *parts_;
  std::size_t const size = group.size();
  if (size == 0) return parts.deliver(group);
  auto on_lanes = std::make_unique<GroupOnLanes>();
  on_lanes->group = group.again();
  on_lanes->open.store(size, std::memory_order_relaxed);
  Pool const& pool = parts.pipeline.pool();
  std::size_t taken = 0;
  try {
    for (; taken < size; ++taken) {
      Tile const& tile = *group.at(taken).loan;
      if (&tile.home() != &pool) {
        throw Error(ErrorKind::bad_argument,
                    "The tile is another pipeline's: send it to the lanes from which it was borrowed.");
      }
      expect_filled_fits(tile, "A node before the lanes");
      if (parts.places[tile.index()].taken.exchange(true, std::memory_order_acquire)) {
        throw Error(ErrorKind::bad_argument,
                    "The tile is on a lane already: send each tile to the lanes once, by one edge.");
      }
    }
  } catch (...) {
    while (taken > 0) parts.places[group.at(--taken).loan->index()].taken.store(false, std::memory_order_release);
    throw;
  }
  for (std::size_t which = 0; which < size; ++which) {
    Parts::Place& place = parts.places[group.at(which).loan->index()];
    place.on_lanes = on_lanes.get();
    place.which = which;
  }
  static_cast<void>(on_lanes.release());  // It belongs to the thread that completes its last tile.
  Feed const feed = parts.pipeline.feed();
  for (std::size_t which = 0; which < size; ++which) {
    // The group has the loan itself, so this one never brings the tile home.
    Loan loan = Loan::resume(&*group.at(which).loan);
    bool submitted = false;
    try {
      submitted = feed.try_submit(loan);
    } catch (...) {
      // A node changed the tile after it was checked.
    }
    if (!submitted) parts.complete(Completion::cancelled(std::move(loan)));
  }
}

void LanesInGraph::lend() noexcept {
  parts_->lending.store(true, std::memory_order_release);
  parts_->lend();
}

void LanesInGraph::stop_lending() noexcept {
  parts_->lending.store(false, std::memory_order_release);
}

Report LanesInGraph::finish() {
  stop_lending();
  Report report = parts_->pipeline.drain();
  parts_->finished = true;
  if (std::uint64_t const tiles = unclaimed_.load(std::memory_order_relaxed); tiles > 0) {
    report.remarks.push_back(
        count_text(tiles, "tile") +
        " went home from the lanes since no node took the message: make an edge from output(), and "
        "put a queue_node before a node that rejects messages.");
  }
  return report;
}

void LanesInGraph::stop() noexcept {
  parts_->pipeline.stop();
}

}  // namespace penstock
