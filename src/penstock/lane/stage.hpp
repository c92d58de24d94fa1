// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "penstock/core/tile.hpp"
#include "penstock/device/device.hpp"
#include "penstock/device/flavour_check.hpp"

namespace penstock {

/// One tile as a stage sees it: on the device, or for a stage of one pass in the host's memory where the device sees
/// it. Kernels read it and write to it; the host cannot, since the device is still copying when the stage is asked.
///
/// Shape: input holds what the source filled, output is the whole output part; with in_place both start at the same
/// byte.
struct DeviceTile {
  DeviceSpan<std::byte> input = {};
  DeviceSpan<std::byte> output = {};
  std::uint64_t sequence = 0;
  std::uint64_t tag = 0;
};

/// Calls `body(DeviceTile const& stretch, std::size_t count)` for the tiles of a batch, those that lie side by side in
/// one stretch: it has the bytes of all `count` of them, and sequence and tag of the first.
template <class Body>
void for_each_stretch(std::span<DeviceTile const> tiles, Body body) {
  auto const behind = [](DeviceSpan<std::byte> one, DeviceSpan<std::byte> next) {
    return (one.empty() && next.empty()) || one.address() + one.size() == next.address();
  };
  auto const joined = [](DeviceSpan<std::byte> one, DeviceSpan<std::byte> next) {
    return DeviceSpan(one.address(), one.size() + next.size());
  };
  for (std::size_t from = 0; from < tiles.size();) {
    DeviceTile stretch = tiles[from];
    std::size_t count = 1;
    for (; from + count < tiles.size(); ++count) {
      DeviceTile const& next = tiles[from + count];
      if (!behind(stretch.input, next.input) || !behind(stretch.output, next.output)) break;
      stretch.input = joined(stretch.input, next.input);
      stretch.output = joined(stretch.output, next.output);
    }
    body(std::as_const(stretch), count);
    from += count;
  }
}

/// Where a stage object will live.
struct StageContext {
  Device& device;
  StreamRef stream;  ///< The lane's compute stream.
  TileShape shape;
  unsigned lane = 0;
};

/// How often a stage passes over the bytes of a tile.
enum class Passes : std::uint8_t {
  many,  ///< As often as it likes, by any means.
  /// It reads each byte of the input about once, writes each byte of what it produces once and nothing else of the
  /// tile, and does so by kernels alone. So it may be given the host's memory, which a device reaches over the link
  /// (Transport::mapped).
  one,
};

/// What a stage made of a function promises.
struct Promises {
  Passes passes = Passes::many;
  bool capturable = false;  ///< As Stage::capturable.
};

/// What a user computes on each tile. One object per lane, so it may keep state, also on the device, without locks.
///
/// Threads: the lane's, from its making to its finish.
class Stage {
 public:
  virtual ~Stage() = default;
  /// Loads what `run` will launch, so that the first tile does not pay for it. Called once, before the first tile.
  virtual void prepare(StreamRef) {}
  /// Enqueues the work on one tile and says how many bytes of output to bring back.
  ///
  /// Blocks:  should not; the device is still copying the input when this is called.
  /// Throws:  anything; the tile then fails with stage "stage", the run goes on. The tile also fails after a launch
  /// that the device refused, even if no code checked it, and on the CPU device after an exception in a kernel that
  /// this call, on its own thread, launched in `stream`. In other streams, as in `prepare`, that is a fault of the
  /// device.
  virtual std::size_t run(DeviceTile const& tile, StreamRef stream) = 0;
  /// Does for all these tiles what `run` does for one, with fewer calls: `produced[i]` is what `run` would have said of
  /// `tiles[i]`. Called where a lane put several on the device at once; neighbours among them often lie side by side on
  /// the device as well. False if it does nothing: `run` is then called for each.
  ///
  /// Shape:  as many of `produced` as of `tiles`, two at least.
  /// Blocks: should not.
  /// Throws: anything; all of these tiles then fail, as `run`'s does.
  virtual bool run_batch(std::span<DeviceTile const> /*tiles*/, std::span<std::size_t> /*produced*/, StreamRef) {
    return false;
  }
  /// A promise on what `run` and `run_batch` do; the answer is always the same.
  virtual Passes passes() const noexcept { return Passes::many; }
  /// A promise on what `run` does; the answer is always the same. `run` only enqueues work, in the stream that it is
  /// given and in no other. The work depends only on where the tile's input and output lie, how large they are, and its
  /// `variant`: not on sequence, tag, what else the host knows, or an earlier call. If these are the same, `run` says
  /// the same of what to bring back. It waits for nothing and allocates nothing. So a lane may capture that work once
  /// for each of its slots, and launch it as a graph for later tiles without calling `run` (FlightOptions::graphs).
  virtual bool capturable() const noexcept { return false; }
  /// For a capturable stage: what the work on this tile depends on besides its place and its size, as one number. Two
  /// tiles in the same slot that have the same size and the same variant have the same work.
  ///
  /// Throws: anything; the tile then fails, as by `run`.
  virtual std::uint64_t variant(DeviceTile const&) const { return 0; }
  /// Enqueues what brings the lane's own result home, after the last tile. The stream is waited for before the merge.
  ///
  /// Throws: anything; the report then has a failure of stage "finish", and this lane's stage is not merged. The same
  /// holds after a launch that the device refused, even if no code checked it.
  virtual void finish(StreamRef) {}
};

/// How a pipeline makes its stage objects, and what becomes of them.
struct Stages {
  /// Makes one lane's stage, on that lane's thread.
  std::function<std::unique_ptr<Stage>(StageContext const&)> make = {};
  /// Takes one lane's finished stage. Called once per healthy lane, in lane order, on the thread that waits for the
  /// run.
  std::function<void(Stage&)> merge = {};
};

/// A stage without state from `body(DeviceTile const&, StreamRef)`, called on every lane at once. It returns the bytes
/// of output to bring back, or nothing for the whole output part.
template <class Body>
Stages each_tile(Body body, Promises promises = {}) {
  class Each final : public Stage {
   public:
    Each(Body run, Promises promised) : body_(std::move(run)), promises_(promised) {}
    Passes passes() const noexcept override { return promises_.passes; }
    bool capturable() const noexcept override { return promises_.capturable; }
    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
      if constexpr (std::is_void_v<std::invoke_result_t<Body&, DeviceTile const&, StreamRef>>) {
        body_(tile, stream);
        return tile.output.size();
      } else {
        return body_(tile, stream);
      }
    }

   private:
    Body body_;
    Promises promises_;
  };
  return {.make = [body = std::move(body),
                   promises](StageContext const&) { return std::make_unique<Each>(body, promises); },
          .merge = {}};
}
/// The same, which promises no more than `passes`.
template <class Body>
Stages each_tile(Body body, Passes passes) {
  return each_tile(std::move(body), Promises{.passes = passes});
}

/// A stage without state that treats each byte or element the same wherever it lies: `body(DeviceSpan<std::byte> input,
/// DeviceSpan<std::byte> output, StreamRef)` computes all of `output` from `input`, in one pass and by kernels
/// (Passes::one). Where tiles lie side by side on the device it is called for all of them at once, so that small tiles
/// take few launches. `capturable` says that the body does what Stage::capturable promises.
template <class Body>
Stages elementwise(Body body, bool capturable = false) {
  class Each final : public Stage {
   public:
    Each(Body run, bool promised) : body_(std::move(run)), capturable_(promised) {}
    Passes passes() const noexcept override { return Passes::one; }
    bool capturable() const noexcept override { return capturable_; }
    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
      body_(tile.input, tile.output, stream);
      return tile.output.size();
    }
    bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
      for_each_stretch(tiles,
                       [&](DeviceTile const& stretch, std::size_t) { body_(stretch.input, stretch.output, stream); });
      for (std::size_t i = 0; i < tiles.size(); ++i) produced[i] = tiles[i].output.size();
      return true;
    }

   private:
    Body body_;
    bool capturable_;
  };
  return {.make = [body = std::move(body),
                   capturable](StageContext const&) { return std::make_unique<Each>(body, capturable); },
          .merge = {}};
}

/// Stages of the user's type, made as Own(StageContext const&); `merge(Own&)` gets each lane's after its finish.
template <class Own>
Stages stage_per_lane(std::function<void(Own&)> merge = {}) {
  return {.make = [](StageContext const& context) { return std::make_unique<Own>(context); },
          .merge =
              [merge = std::move(merge)](Stage& stage) {
                if (merge) merge(static_cast<Own&>(stage));
              }};
}

}  // namespace penstock
