// SPDX-License-Identifier: Apache-2.0
// Stages, which compute on tiles, their promises, and their order: in_order, in_order_by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/device_tile.hpp"
#include "penstock/elements.hpp"
#include "penstock/tile.hpp"

// Stages are the same in both flavours, but the sources that make them have one.
#define PENSTOCK_FLAVOUR_OPTIONAL
#include "penstock/flavour.hpp"
#undef PENSTOCK_FLAVOUR_OPTIONAL

namespace penstock {

/// The order in which the lanes' stages get tiles. `in_order` and `in_order_by` set it.
struct StageOrder {
  /// Stages get tiles in their sequence, 0, 1, 2 ..., not in the order in which producers and lanes come.
  bool in_sequence = false;
  /// Key of a tile: tiles of one key go to one lane, `key % lanes`. Empty: all go to one lane. Only if `in_sequence` is
  /// set.
  ///
  /// Threads: those that fill tiles, or do the last host stage; several at a time.
  /// Throws:  anything; this tile then fails with stage "stage" and keeps its place.
  std::function<std::uint64_t(Tile const&)> key = {};
};

/// Returns the same stages, which then get all tiles in their sequence: for stages with state from tile to tile, such
/// as a filter, an average or a decoder. `pipeline.run(source, in_order(on_device(body)), sink)`.
///
/// The run has one lane, on the first device. Its stage is called for tiles 0, 1, 2 ... (DeviceTile::sequence), by
/// `run` or for neighbours by `run_batch`, and the device works on them in that order, since all calls get one stream.
/// Host stages do not change the order. A tile that fails before the stage, or is cancelled, keeps its place: the stage
/// is not called for it, so the sequence has a gap there.
///
/// A tile waits until all before it are filled. The state that a tile leaves when it fails in the stage is the stage's
/// own matter. The order in which the sink gets tiles is another one: PipelineOptions::ordered.
template <class AnyStages>
AnyStages in_order(AnyStages stages) {
  stages.order = {.in_sequence = true, .key = {}};
  return stages;
}

/// The same for tiles of one key: the run has all of its lanes, and tiles of one key go to one of them, lane `key %
/// lanes`, in their sequence. `key` is a function of the tile, as its source and the host stages left it:
/// `in_order_by(&Tile::tag, stages)`. A lane may have several keys, so a stage with state for each key distinguishes
/// them, by DeviceTile::tag for instance.
///
/// If a lane loses its device, its tiles fail, including those to come: the state of their keys is lost with it.
///
/// Throws: what it throws fails the tile, as StageOrder::key.
template <class Key, class AnyStages>
AnyStages in_order_by(Key key, AnyStages stages) {
  static_assert(std::is_invocable_r_v<std::uint64_t, Key&, Tile const&>,
                "the key of a tile is a function of it that gives a number: key(Tile const&), or &Tile::tag");
  stages.order = {.in_sequence = true, .key = std::move(key)};
  return stages;
}

/// The place of a stage object: its lane and device.
struct StageContext {
  Device& device;
  StreamRef stream;  ///< The lane's compute stream.
  TileShape shape;
  unsigned lane = 0;
  unsigned spare = 0;  ///< Tuning::spare: 0 leaves the size of grids to the stage.
  /// True: the lane's own thread runs the kernels that the stage launches, block after block
  /// (Tuning::run_to_completion).
  bool computes_here = false;

  /// Number of multiprocessors that its kernels may use: those of the device less `spare`, but at least one. On the CPU
  /// device it is the number of compute threads, or one if the lane's own thread runs the kernels: more blocks than
  /// that gain nothing.
  ///
  /// Blocks: as Device::info; so call it once.
  unsigned multiprocessors() const {
    if (computes_here) return 1;
    auto const all = static_cast<unsigned>(std::max(1, device.info().compute_units));
    return all - std::min(spare, all - 1);
  }
};

/// Elements that a stage keeps in the memory of its device, all bytes zero at first: a histogram, a running sum. Must
/// die before its Device.
///
/// Shape:   size() elements, side by side.
/// Threads: the stage's own.
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>, "only what may be copied byte by byte lies on a device");

 public:
  DeviceArray() = default;
  /// Make it in the constructor of the stage, before the first tile.
  ///
  /// Units:  elements.
  /// Blocks: as Device::allocate; and until the zeros are on the device.
  /// Throws: Error, as Device::allocate and StreamRef::upload; std::bad_alloc.
  DeviceArray(StageContext const& context, std::size_t count)
      : memory_(context.device.allocate(bytes_of_elements<T>(count))) {
    DeviceSpan<std::byte> const all = memory_.bytes();
    std::vector<std::byte> const zeros(std::min<std::size_t>(all.size(), std::size_t{1} << 20));
    for (std::size_t at = 0; at < all.size(); at += zeros.size()) {
      std::size_t const bytes = std::min(zeros.size(), all.size() - at);
      context.stream.upload(all.subspan(at, bytes), std::span(zeros).first(bytes));
    }
    if (!zeros.empty()) context.stream.synchronize();
  }

  std::size_t size() const noexcept { return span().size(); }
  /// The elements, for kernels and copies.
  DeviceSpan<T> span() const noexcept { return DeviceSpan<std::byte>(memory_.bytes()).template as<T>(); }
  /// Copies the elements to the host, in the order of the stream: in Stage::finish, say.
  ///
  /// Shape:  `to` has size() elements.
  /// Blocks: as StreamRef::download.
  void download(std::span<T> to, StreamRef stream) const {
    stream.download(std::as_writable_bytes(to), memory_.bytes());
  }

 private:
  DeviceMemory memory_;
};

/// Promises of a stage about its work. Each promise lets a lane do the work in fewer steps; a stage without promises
/// has no restrictions.
struct Promises {
  /// It treats each byte or element alike: the output at a place depends on nothing but the input at the same place.
  /// `on_device` then calls its function once for tiles that are consecutive on the device: as one tile with the bytes
  /// of all of them, and sequence and tag of the first. A function that returns a number of bytes is called for each
  /// tile, and so is every function if tiles have several inputs. Includes `reads_once`.
  bool elementwise = false;
  /// It reads each byte of the input about once, writes each byte of its result once and nothing else of the tile, and
  /// does so by kernels alone. It may then be given host memory, which a device accesses over the link
  /// (Transport::mapped). Kernels with few threads, or with threads that read far apart, are slow there: let the
  /// transport be copies.
  bool reads_once = false;
  /// `run` only enqueues work, in the stream that it gets and in no other. The work depends only on the places and
  /// sizes of the tile's inputs and output, and on its `variant`: not on sequence, tag, index, other data of the host,
  /// or an earlier call. If these are the same, `run` returns the same number of bytes. It waits for nothing and
  /// allocates nothing. A lane may then capture that work once for each of its slots, and launch it as a graph for
  /// later tiles without calling `run` (Tuning::graphs).
  bool capturable = false;
  /// Its kernels can read the first input at any address, also an odd one. Tiles that refer to other memory
  /// (Tile::use_memory) then need no copy if a lane may give the stage host memory.
  bool any_alignment = false;

  /// True if a lane may give the stage host memory.
  constexpr bool allow_mapping() const noexcept { return reads_once || elementwise; }
  bool operator==(Promises const&) const = default;
};

/// The user's computation on each tile. Each lane has one object, so it may keep state, also on the device, without
/// locks.
///
/// Threads: the lane's, from its making to its finish.
class Stage {
 public:
  virtual ~Stage() = default;
  /// Loads the code that `run` will launch, so that the first tile need not wait for that. Called once, before the
  /// first tile.
  virtual void prepare(StreamRef) {}
  /// Enqueues the work on one tile and returns the number of output bytes to copy back.
  ///
  /// Blocks:  should not; the device is still copying the input when this is called.
  /// Throws:  anything; the tile then fails with stage "stage", and the run continues. The tile also fails after a
  ///          launch that the device refused, even if no code checked it, and on the CPU device after an exception in a
  ///          kernel that this call, on its own thread, launched in `stream`. In other streams, as in `prepare`, that
  ///          is a fault of the device.
  virtual std::size_t run(DeviceTile const& tile, StreamRef stream) = 0;
  /// Does for all these tiles what `run` does for one, with fewer calls: `produced[i]` is what `run` would have
  /// returned for `tiles[i]`. Called when a lane put several tiles on the device at once; neighbours among them are
  /// often consecutive on the device as well. Returns false if it did nothing: `run` is then called for each.
  ///
  /// Shape:  `produced` and `tiles` have the same number of elements, at least two.
  /// Blocks: should not.
  /// Throws: anything; all of these tiles then fail, as after `run`.
  virtual bool run_batch(std::span<DeviceTile const> /*tiles*/, std::span<std::size_t> /*produced*/, StreamRef) {
    return false;
  }
  /// The promises about `run` and `run_batch`; the answer is always the same.
  virtual Promises promises() const noexcept { return {}; }
  /// Number that identifies the work of a capturable stage on this tile, apart from the tile's place and size. Two
  /// tiles in the same slot with the same size and the same variant have the same work.
  ///
  /// Throws: anything; the tile then fails, as after `run`.
  virtual std::uint64_t variant(DeviceTile const&) const { return 0; }
  /// Enqueues the copy of the lane's own result to the host, after the last tile. The lane waits for the stream before
  /// the merge.
  ///
  /// Throws: anything; the report then has a failure of stage "finish", and this lane's stage is not merged. The same
  ///         happens after a launch that the device refused, even if no code checked it.
  virtual void finish(StreamRef) {}
};

/// Functions that make a pipeline's stage objects and take their results.
struct Stages {
  /// Makes one lane's stage, on that lane's thread.
  std::function<std::unique_ptr<Stage>(StageContext const&)> make = {};
  /// Takes one lane's finished stage. Called once per healthy lane, in lane order, on the thread that waits for the
  /// run.
  std::function<void(Stage&)> merge = {};
  StageOrder order = {};
  /// Element types of the tile's parts, if known: `on_device` derives them from its function. `run` and `start` refuse
  /// tiles of another shape, or of elements of other types by `tile_of`.
  TileTypes types = {};
};

/// Makes a stateless stage from a function `body(DeviceTile const&, StreamRef)`, called on every lane at once. It
/// returns the bytes of output to copy back, or nothing for the whole output part. The function may name elements
/// instead of bytes: `body(DeviceTileOf<float>, StreamRef)`.
///
/// Threads: the lanes', all at once.
/// Throws:  what the function throws fails the tile, as Stage::run.
template <class Body>
requires std::is_invocable_v<Body&, DeviceTile const&, StreamRef> Stages on_device(Body body, Promises promises = {}) {
  constexpr bool whole_output = std::is_void_v<std::invoke_result_t<Body&, DeviceTile const&, StreamRef>>;
  class Function final : public Stage {
   public:
    Function(Body run, Promises promised) : body_(std::move(run)), promises_(promised) {}
    Promises promises() const noexcept override { return promises_; }
    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
      if constexpr (whole_output) {
        body_(tile, stream);
        return tile.output.size();
      } else {
        return body_(tile, stream);
      }
    }
    bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
      if constexpr (whole_output) {
        if (!promises_.elementwise) return false;
        for_each_stretch(tiles, [&](DeviceTile const& stretch, std::size_t) { body_(stretch, stream); });
        for (std::size_t i = 0; i < tiles.size(); ++i) produced[i] = tiles[i].output.size();
        return true;
      } else {
        return false;
      }
    }

   private:
    Body body_;
    Promises promises_;
  };
  return {.make = [body = std::move(body),
                   promises](StageContext const&) { return std::make_unique<Function>(body, promises); },
          .merge = {},
          .order = {},
          .types = types_of_function<Body>()};
}

/// Makes stages of the user's type by Own(StageContext const&); `merge(Own&)` gets each lane's stage after its finish.
/// If the class says which tiles it takes, by a public `using Takes = DeviceTileOf<float>`, others are refused as by
/// on_device. An alias that is not public is not seen, and nothing is compared then.
template <class Own>
Stages stage_per_lane(std::function<void(Own&)> merge = {}) {
  static_assert(std::is_base_of_v<Stage, Own>, "the class of a stage is derived from Stage");
  static_assert(std::is_constructible_v<Own, StageContext const&>,
                "the class of a stage has a constructor from StageContext: explicit Own(StageContext const& context)");
  return {.make = [](StageContext const& context) { return std::make_unique<Own>(context); },
          .merge =
              [merge = std::move(merge)](Stage& stage) {
                if (merge) merge(static_cast<Own&>(stage));
              },
          .order = {},
          .types = types_of_stage<Own>()};
}

}  // namespace penstock
