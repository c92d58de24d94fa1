// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/flow/graph.hpp"
#include "engine/flow/run_outcomes.hpp"
#include "engine/flow/station.hpp"
#include "engine/flow/tile_record.hpp"
#include "engine/flow/turnstile.hpp"
#include "engine/lane/completion_taker.hpp"
#include "engine/lane/lane_set.hpp"
#include "engine/machine/cpu_set.hpp"
#include "penstock/options.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/steps.hpp"

namespace penstock {

/// The route of a run's tiles, in the order of its functions: `send`, host stages, `to_lane`; `WayBack::take`,
/// order, `SinkWork::take`.
///
/// Each tile that is sent is delivered once, whatever fails. Its record holds its loan but while a lane has it. Where
/// stages see tiles in order, a turnstile before the lanes keeps each tile until all before it have come.
///
/// Threads: any.
class TileRoute {
 public:
  struct Options {
    std::vector<HostStage> host_stages = {};
    StageOrder stage_order = {};       ///< Order in which lanes get tiles.
    bool ordered = false;              ///< The sink sees tiles by sequence 0, 1, 2 ...
    bool parallel_sink = false;        ///< Several tiles in the sink at once.
    bool sink_at_once = false;         ///< The thread that completes a tile calls the sink, unless there is an order.
    std::size_t lanes = 1;             ///< Lanes that complete tiles.
    std::size_t consumers = 1;         ///< Threads for host stages and sink, the one in Graph::wait among them.
    std::chrono::nanoseconds spin{0};  ///< Spin of the graph.
    std::vector<CpuSet> cpus = {};     ///< CPUs of the graph's consumers.
    StepLog* recorder = nullptr;       ///< Is told what host stages and sink do; null for none.
    Ranges* ranges = nullptr;          ///< Is told the same; null for none.
  };

  /// Serves tiles of this pool, with a record for each. `enough` is asked to stop once no lane can take a tile any
  /// more. A thread in a host stage or the sink works for the pool (`WorksFor`).
  ///
  /// Throws: as Graph.
  TileRoute(Options const& options, Pool const& pool, std::span<TileRecord> records, Sink sink, RunOutcomes& outcomes,
            std::stop_source enough);
  TileRoute(TileRoute const&) = delete;
  TileRoute& operator=(TileRoute const&) = delete;

  /// Sets where tiles go from the host stages. Call it before the first tile; `lanes` outlives the last.
  void lead_to(TileTaker& lanes) noexcept { lanes_.store(&lanes, std::memory_order_release); }

  /// Sends a tile that has its sequence; with `failure` it goes straight to the sink.
  ///
  /// Blocks: never; without host stages it hands the tile to a lane.
  void send(Loan loan, std::shared_ptr<Failure const> failure);
  /// The receiver of that lane's completions, until it ends; it ends before the route dies. Tiles that it gives one
  /// after the other travel together.
  ///
  /// Threads: the lane's.
  /// Blocks:  never; with `sink_at_once` it delivers the tile before it returns.
  CompletionTaker& way_back(std::size_t lane) { return ways_back_[lane]; }

  /// Tiles that were sent so far.
  std::uint64_t sent() const noexcept { return graph_.came(); }

  Graph& graph() noexcept { return graph_; }
  Graph const& graph() const noexcept { return graph_; }

 private:
  /// A host stage, and its name in a failure: made once, since later there may be no memory. A stage without a
  /// name is called by its number, from 1.
  struct HostWork final : StationWork {
    HostWork(TileRoute& of, HostStage its, std::string name_of_node, bool has_edge);
    void take(TileRecord& record, bool follows) noexcept override;
    TileRoute& route;
    HostStage const stage;
    std::string const name;   ///< "decode", "host stage 2".
    std::string const title;  ///< "Host stage 'decode'", "Host stage 2".
    bool const leads_on;      ///< It has an edge, to the next host stage or the lanes' node.
    Station* station = nullptr;
  };
  struct OrderWork final : StationWork {
    OrderWork(TileRoute& of, std::size_t tiles) : route(of), order(tiles) {}
    void take(TileRecord& record, bool follows) noexcept override;
    TileRoute& route;
    Sequencer order;
    bool called_sink = false;  ///< Called since the consumer took the records that it works on now.
  };
  /// Receiver of a lane's completions, with those that came so far of tiles that come together. The first goes on
  /// alone, so that the sink begins at once, and each group is twice as large as the one before.
  struct WayBack final : CompletionTaker {
    explicit WayBack(TileRoute& of) : route(of) {}
    void take(Completion completion, bool more) override;
    void lost() noexcept override { route.end_if_no_lane_is_left(); }
    /// With more, the first would wait for long until the sink gets it.
    static constexpr std::size_t most_kept = 16;
    TileRoute& route;
    /// Null if the sink is called at once: on a lane's thread, so no edge leads there.
    LanesNode::WayOut* out = nullptr;
    RecordGroup kept;
    std::size_t count = 0;  ///< Number of those that are kept.
    std::size_t limit = 1;  ///< Number of those that travel together next.
  };
  struct LanesWork final : StationWork {
    explicit LanesWork(TileRoute& of) : route(of) {}
    void take(TileRecord& record, bool /*follows*/) noexcept override { route.to_lane(record); }
    TileRoute& route;
  };
  /// The end of the route: when the loan dies, the tile is home.
  struct SinkWork final : StationWork {
    SinkWork(TileRoute& of, Sink its, Options const& options);
    void take(TileRecord& record, bool follows) noexcept override;
    TileRoute& route;
    Sink const sink;
    bool const one_at_a_time;   ///< The sink gets them, from one consumer after the other.
    std::uint32_t const row;    ///< Row of the recorder for tiles that wait for it.
    Clock::time_point ended{};  ///< The last call of the sink, if it gets one tile at a time.
  };

  void add_nodes(Options const& options);
  void work_on_host(HostWork const& work, TileRecord& record) noexcept;
  void find_key(TileRecord& record) noexcept;
  void to_lane(TileRecord& record);
  void to_lane_in_turn(TileRecord& record);
  void cancel(Loan loan);
  void to_sink(TileRecord& record) noexcept;
  void end_if_no_lane_is_left() noexcept;

  Pool const& pool_;
  std::span<TileRecord> const records_;
  StageOrder const stage_order_;
  RunOutcomes& outcomes_;
  std::stop_source enough_;
  bool const parallel_sink_;
  StepLog* const recorder_;
  Ranges* const ranges_;
  std::atomic<TileTaker*> lanes_{nullptr};  ///< A lane may be lost before the others are there.

  std::deque<HostWork> host_;
  std::deque<WayBack> ways_back_;                        ///< Ways back by lane.
  std::optional<BasicTurnstile<TileRecord>> turnstile_;  ///< Set if stages see tiles in order; before the lanes.
  std::optional<OrderWork> order_;
  LanesWork lanes_work_{*this};
  SinkWork sink_work_;
  Graph graph_;                           ///< It is destroyed first.
  Station* order_station_ = nullptr;      ///< Null without order.
  LanesNode::WayOut* no_lane_ = nullptr;  ///< The way out of tiles that no lane had; null as those of the lanes.
};

/// The nodes of a route, with their edges, host stages first: a route makes each of these and no other. A sink that
/// takes one tile at a time in order is called by the order's node. Lanes that call the sink are no node, since an edge
/// would keep others waiting meanwhile.
///
/// Throws: std::bad_alloc.
std::vector<GraphNode> nodes_of(TileRoute::Options const& options);

}  // namespace penstock
