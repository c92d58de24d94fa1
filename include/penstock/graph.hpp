// SPDX-License-Identifier: Apache-2.0
// A pipeline's lanes as one node of a oneTBB flow graph. This header includes oneTBB's, so penstock.hpp is without it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task.h>

#include "penstock/device.hpp"
#include "penstock/elements.hpp"
#include "penstock/error.hpp"
#include "penstock/options.hpp"
#include "penstock/report.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Tiles that travel together, without the types of their elements. Programs hold a `Tiles`.
///
/// Threads: any may copy, move and destroy a group of its own. Several may read the tiles of one group at once.
class TileGroup {
 public:
  TileGroup() noexcept = default;
  TileGroup(TileGroup const& other) noexcept;
  TileGroup(TileGroup&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  TileGroup& operator=(TileGroup other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~TileGroup();

  std::size_t size() const noexcept;
  /// Makes visible what a thread wrote before it copied this group. All other functions do it themselves.
  void take() const noexcept;
  /// The tile and its outcome.
  ///
  /// Shape:  `which` is below size().
  /// Throws: Error of kind bad_argument, otherwise.
  Completion& at(std::size_t which) const;
  /// A group of the same tile alone.
  ///
  /// Throws: as at; std::bad_alloc.
  TileGroup one(std::size_t which) const;
  /// Adds all tiles of another group behind these. Copies of this group do not get them.
  ///
  /// Throws: std::bad_alloc; nothing is added then.
  void append(TileGroup const& other);

 private:
  friend class LanesInGraph;
  struct State;
  explicit TileGroup(State* state) noexcept : state_(state) {}
  /// A borrowed tile as a group.
  static TileGroup of(std::shared_ptr<class TilesHome> const& home, Loan loan);
  /// A group of the same tiles, all without an outcome.
  TileGroup again() const;
  State* state_ = nullptr;  ///< Null for no tiles.
};

/// Tiles that travel together through the nodes of a graph: a message. Its copies share the tiles, and a tile is home
/// once no message has it any more, so a node sends a tile home by not passing it on.
///
/// Threads: those of the nodes that get it. Only a node that is the sole receiver of a message may write to its tiles.
///          While the lanes have a tile, other nodes may read its input, but not its sequence.
template <class In, class Out = In>
class Tiles {
 public:
  Tiles() noexcept = default;
  explicit Tiles(TileGroup group) noexcept : group_(std::move(group)) {}

  std::size_t size() const noexcept { return group_.size(); }
  bool empty() const noexcept { return size() == 0; }
  /// The tile as a sink sees it: its input, and behind the lanes its output or what went wrong.
  ///
  /// Shape:  `which` is below size().
  /// Throws: Error of kind bad_argument, otherwise.
  TileResult<Out, In> operator[](std::size_t which) const { return TileResult<Out, In>(group_.at(which)); }

  /// The whole first input of a tile, to be filled before the lanes get it.
  ///
  /// Units:  elements.
  /// Throws: as operator[].
  std::span<In> room(std::size_t which = 0) const { return elements<In>(group_.at(which).loan->input()); }
  /// The room of another input: 1 is the second.
  template <class Element>
  std::span<Element> room_as(std::size_t input, std::size_t which = 0) const {
    return elements<Element>(group_.at(which).loan->input(input));
  }
  /// Says how many elements of the first input were filled, and of the other inputs, in their order.
  ///
  /// Throws: Error of kind bad_argument, if there is less room; and as operator[].
  template <class... More>
  void set_filled(std::size_t which, std::size_t count) const {
    Tile& tile = *group_.at(which).loan;
    tile.filled = count * sizeof(In);
    std::size_t input = 0;
    ((tile.more_filled[input++] = count * sizeof(More)), ...);
    expect_filled_fits(tile, "set_filled");
  }
  /// Gives a tile the program's own number. A join_node can match two results by it.
  ///
  /// Throws: as operator[].
  void set_tag(std::size_t which, std::uint64_t tag) const { group_.at(which).loan->tag = tag; }

  /// A message with the same tile alone.
  ///
  /// Throws: as operator[]; std::bad_alloc.
  Tiles one(std::size_t which) const { return Tiles(group_.one(which)); }
  /// Adds the tiles of another message behind these.
  ///
  /// Throws: std::bad_alloc; nothing is added then.
  void append(Tiles const& other) { group_.append(other.group_); }

  TileGroup const& group() const noexcept { return group_; }

 private:
  TileGroup group_;
};

/// The tiles for which `drop(TileResult<Out, In>)` is false, in their order. The others go home once no other message
/// has them.
///
/// Throws: what `drop` throws; std::bad_alloc.
template <class In, class Out, class Drop>
Tiles<In, Out> drop_if(Tiles<In, Out> const& tiles, Drop drop) {
  Tiles<In, Out> kept;
  for (std::size_t which = 0; which < tiles.size(); ++which) {
    if (!drop(tiles[which])) kept.append(tiles.one(which));
  }
  return kept;
}

/// The part of Lanes that needs no oneTBB and no types: a started pipeline that takes groups and gives them back.
class LanesInGraph {
 public:
  /// Gets each group that was submitted, once all its tiles are complete. It does not throw.
  ///
  /// Threads: the lanes', all at once; with PipelineOptions::ordered, one at a time.
  using Deliver = std::function<void(TileGroup)>;
  /// Gets a spare tile while tiles are lent. False if no node takes it: no more are lent then. It does not throw.
  ///
  /// Threads: any, one at a time.
  using Lend = std::function<bool(TileGroup)>;

  LanesInGraph(DeviceGroup const& devices, PipelineOptions options, Stages stages, Deliver deliver, Lend lend);
  LanesInGraph(LanesInGraph const&) = delete;
  LanesInGraph& operator=(LanesInGraph const&) = delete;
  ~LanesInGraph();

  TileGroup borrow(std::stop_token const& stop) const;
  std::optional<TileGroup> try_borrow() const;
  void expect_types(TileTypes const& types) const;
  void submit(TileGroup const& group);
  void lend() noexcept;
  void stop_lending() noexcept;
  /// Notes a message that found no node; the report has a remark.
  void note_unclaimed(std::size_t tiles) noexcept { unclaimed_.fetch_add(tiles, std::memory_order_relaxed); }
  Report finish();
  void stop() noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::atomic<std::uint64_t> unclaimed_{0};
};

/// The lanes of a pipeline as one node of a graph that a program has: tiles come in filled, are computed on devices,
/// and go out with their outcome. Other nodes stand before, beside and behind it, and a graph may have several.
///
///     flow::graph graph;
///     Lanes<float> lanes(graph, devices, {.tile = tile_of<float>(1 << 20)}, stage);
///     flow::make_edge(decode, lanes.input());
///     flow::make_edge(lanes.output(), index);
///     decode.try_put(fill(lanes.borrow()));
///     graph.wait_for_all();
///     Report const report = lanes.finish();
///
/// Each tile has one outcome, which its TileResult says. `graph.wait_for_all()` waits for tiles on devices too. The
/// pool is the only back-pressure: `borrow` waits for a tile. A stage that throws fails its tile, and the graph goes
/// on. An exception in a node of the program's own cancels the graph, as oneTBB does: `wait_for_all` throws it, and the
/// tiles go home.
///
/// The node passes on what it has at once and keeps nothing: before a node that rejects messages (a limited one with
/// the policy `rejecting`, a limiter_node) put a queue_node. Tiles that no node takes go home, and the report says how
/// many.
///
/// Threads: any for `borrow`, `try_borrow`, `stop` and for messages; one makes, finishes and destroys it. Messages may
///          outlive it. The graph must outlive it.
template <class In, class Out = In>
class Lanes {
 public:
  using Message = Tiles<In, Out>;

  /// Makes the pipeline and starts its lanes.
  ///
  /// Blocks: as Pipeline's constructor.
  /// Throws: Error, as Pipeline's constructor and start; of kind bad_argument, if the tiles are made for elements of
  /// other types or the options have host stages, which are nodes of the graph here.
  Lanes(oneapi::tbb::flow::graph& graph, DeviceGroup const& devices, PipelineOptions options, Stages stages)
      // An order is that of the messages, so one at a time goes in.
      : node_(
            graph, options.ordered ? oneapi::tbb::flow::serial : oneapi::tbb::flow::unlimited,
            [this](Message const& tiles, Gateway& gateway) {
              tiles.group().take();  // First: a sanitizer does not see that oneTBB orders this behind the constructor.
              submit(tiles, gateway);
            }),
        spare_(graph, oneapi::tbb::flow::unlimited, [](oneapi::tbb::flow::continue_msg, auto&) {}),
        lanes_(
            devices, std::move(options), std::move(stages),
            [this](TileGroup group) { deliver(Message(std::move(group))); },
            [this](TileGroup group) { return put(spare_, Message(std::move(group))); }) {
    lanes_.expect_types({.inputs = 1, .input = {part_type<In>()}, .output = part_type<Out>()});
  }
  Lanes(oneapi::tbb::flow::graph&, Devices&&, PipelineOptions, Stages) = delete;

  /// Takes filled tiles that were borrowed here.
  ///
  /// Throws: Error of kind bad_argument into the graph, if a tile was borrowed elsewhere or is on a lane already.
  oneapi::tbb::flow::receiver<Message>& input() noexcept { return node_; }
  /// Sends each message that came in, once all its tiles are complete.
  oneapi::tbb::flow::sender<Message>& output() noexcept { return oneapi::tbb::flow::output_port<0>(node_); }

  /// One empty tile, to be filled and sent. It has room for `room().size()` elements.
  ///
  /// Blocks: until a tile is home.
  /// Throws: Error, as Feed::borrow; and in a task of oneTBB instead of waiting, since the nodes that would send tiles
  /// home may need its thread: borrow on a thread that feeds the graph, or use try_borrow. std::bad_alloc.
  Message borrow(std::stop_token const& stop = {}) const {
    if (auto tile = try_borrow()) return std::move(*tile);
    if (oneapi::tbb::task::current_context() != nullptr) {
      throw Error(ErrorKind::bad_argument,
                  "No tile is home, and a node that waits for one keeps the thread that would bring it: borrow on a "
                  "thread that feeds the graph, or use try_borrow().");
    }
    return Message(lanes_.borrow(stop));
  }
  /// A tile, if one is home.
  ///
  /// Throws: std::bad_alloc.
  std::optional<Message> try_borrow() const {
    auto group = lanes_.try_borrow();
    if (!group) return std::nullopt;
    return Message(std::move(*group));
  }

  /// Sends empty tiles, one a message, to be filled: after `lend()` each tile as soon as it is home. So nodes of the
  /// graph get tiles without waiting for one. Put a queue_node behind it, whose tiles a join_node pairs with work, say.
  oneapi::tbb::flow::sender<Message>& spare() noexcept { return oneapi::tbb::flow::output_port<0>(spare_); }
  /// Lends all tiles by `spare()` until `stop_lending()`. If no node takes one, lending ends until the next `lend()`.
  void lend() noexcept { lanes_.lend(); }
  /// No tile goes out by `spare()` any more; those that did are still there.
  void stop_lending() noexcept { lanes_.stop_lending(); }

  /// Ends the lanes and reports. Call it after `graph.wait_for_all()`. Tiles that are sent later are cancelled.
  ///
  /// Blocks: until the last completion.
  /// Throws: Error, if it was called before.
  [[nodiscard]] Report finish() { return lanes_.finish(); }
  /// Cancels what no device has started. Messages with these tiles still go out.
  void stop() noexcept { lanes_.stop(); }

 private:
  using Node = oneapi::tbb::flow::async_node<Message, Message>;
  using Gateway = typename Node::gateway_type;

  void submit(Message const& tiles, Gateway& gateway) {
    gateway.reserve_wait();
    try {
      lanes_.submit(tiles.group());
    } catch (...) {
      gateway.release_wait();
      throw;
    }
  }
  /// False if no node took them.
  template <class From>
  static bool put(From& from, Message const& tiles) noexcept {
    try {
      return from.gateway().try_put(tiles);
    } catch (...) {
      return false;  // oneTBB had no memory for a task, or no thread.
    }
  }
  void deliver(Message tiles) noexcept {
    if (!put(node_, tiles)) lanes_.note_unclaimed(tiles.size());
    tiles = {};
    node_.gateway().release_wait();
  }

  Node node_;
  oneapi::tbb::flow::async_node<oneapi::tbb::flow::continue_msg, Message> spare_;
  LanesInGraph lanes_;  ///< It is destroyed first, and delivers what it has.
};

}  // namespace penstock
