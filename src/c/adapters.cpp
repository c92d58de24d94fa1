// SPDX-License-Identifier: Apache-2.0
#include "c/adapters.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "c/calls.hpp"

namespace penstock::c {
namespace {

// A structure grows behind its end, so it has no room that members do not name. (A double has two zeros.)
template <class... Structures>
constexpr bool have_no_gaps = (std::has_unique_object_representations_v<Structures> && ...);
static_assert(have_no_gaps<penstock_device_tile, penstock_lane, penstock_stage, penstock_source, penstock_completion,
                           penstock_sink, penstock_pipeline_options>);
static_assert(sizeof(penstock_kernel_cost) ==
              offsetof(penstock_kernel_cost, block_threads) + sizeof(penstock_kernel_cost::block_threads));

static_assert(std::extent_v<decltype(penstock_pipeline_options::more_input_bytes)> == most_more_inputs);
static_assert(std::extent_v<decltype(penstock_device_tile::more_inputs)> == most_more_inputs);
static_assert(std::extent_v<decltype(penstock_device_tile::more_input_bytes)> == most_more_inputs);
static_assert(static_cast<int>(Outcome::done) == PENSTOCK_DONE &&
              static_cast<int>(Outcome::failed) == PENSTOCK_TILE_FAILED &&
              static_cast<int>(Outcome::cancelled) == PENSTOCK_CANCELLED);

/// Calls a function of the program.
///
/// Throws: Error, if it returns a negative number, or throws as functions in C++ may.
template <class Number, class... Parameters, class... Arguments>
Number called(char const* name, Number (*function)(Parameters...), Arguments... arguments) {
  begin_callback();
  Number number = 0;
  try {
    number = function(arguments...);
  } catch (Error const&) {
    throw;
  } catch (std::bad_alloc const&) {
    throw;
  } catch (std::exception const& exception) {
    throw Error(ErrorKind::program, exception.what());
  }
  if (number < 0) throw_failure_of(name);
  return number;
}

constexpr std::uint32_t known_promises =
    PENSTOCK_ELEMENTWISE | PENSTOCK_READS_ONCE | PENSTOCK_CAPTURABLE | PENSTOCK_ANY_ALIGNMENT;

Promises promises_of(std::uint32_t bits) noexcept {
  return {.elementwise = (bits & PENSTOCK_ELEMENTWISE) != 0,
          .reads_once = (bits & PENSTOCK_READS_ONCE) != 0,
          .capturable = (bits & PENSTOCK_CAPTURABLE) != 0,
          .any_alignment = (bits & PENSTOCK_ANY_ALIGNMENT) != 0};
}

penstock_device_tile view_of(DeviceTile const& tile) noexcept {
  penstock_device_tile view{};
  view.size = sizeof(view);
  view.input = tile.input.address();
  view.input_bytes = tile.input.size();
  view.output = tile.output.address();
  view.output_bytes = tile.output.size();
  view.sequence = tile.sequence;
  view.tag = tile.tag;
  view.index = tile.index;
  for (std::size_t i = 0; i < most_more_inputs; ++i) {
    view.more_inputs[i] = tile.more_inputs[i].address();
    view.more_input_bytes[i] = tile.more_inputs[i].size();
  }
  return view;
}

/// The stage of one lane, with the state that the program made for it.
class CStage final : public Stage {
 public:
  CStage(penstock_stage const& functions, StageContext const& context)
      : functions_(functions),
        device_(device_name(context.device.info())),
        stream_(context.stream),
        state_(functions.user) {
    if (functions_.make == nullptr) return;
    penstock_lane lane{};
    lane.size = sizeof(lane);
    lane.number = context.lane;
    lane.multiprocessors = context.multiprocessors();
    lane.on_gpu = context.stream.kind() == DeviceKind::cuda ? 1 : 0;
    lane.device = device_.c_str();
    lane.stream = handle(stream_);
    state_ = nullptr;
    called("make", functions_.make, functions_.user, &lane, &state_);
    made_ = true;
  }
  ~CStage() override {
    if (made_ && functions_.destroy != nullptr) functions_.destroy(state_);
  }

  void prepare(StreamRef stream) override {
    if (functions_.prepare != nullptr) called("prepare", functions_.prepare, state_, handle(stream));
  }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    penstock_device_tile const view = view_of(tile);
    return static_cast<std::size_t>(called("run", functions_.run, state_, &view, handle(stream)));
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    if ((functions_.promises & PENSTOCK_ELEMENTWISE) == 0) return false;
    std::size_t from = 0;
    for_each_stretch(tiles, [&](DeviceTile const& stretch, std::size_t count) {
      std::size_t left = run(stretch, stream);
      // All tiles but the last of a stretch are full. What exceeds its output is the last one's, and fails it.
      for (std::size_t const last = from + count - 1; from <= last; ++from) {
        produced[from] = from < last ? std::min(left, tiles[from].output.size()) : left;
        left -= produced[from];
      }
    });
    return true;
  }
  Promises promises() const noexcept override { return promises_of(functions_.promises); }
  void finish(StreamRef stream) override {
    if (functions_.finish != nullptr) called("finish", functions_.finish, state_, handle(stream));
  }
  void merge() {
    if (functions_.merge != nullptr) functions_.merge(functions_.user, state_);
  }

 private:
  penstock_stage const functions_;
  std::string const device_;
  StreamRef stream_;
  void* state_;
  bool made_ = false;
};

/// Gets the tile of a completion back, unless the program keeps it.
class ShownCompletion {
 public:
  explicit ShownCompletion(Completion& completion) : completion_(completion) { show(completion, shown_); }
  ShownCompletion(ShownCompletion const&) = delete;
  ShownCompletion& operator=(ShownCompletion const&) = delete;
  ~ShownCompletion() {
    if (shown_.keep != 0) static_cast<void>(completion_.loan.release());
  }
  penstock_completion* get() noexcept { return &shown_; }

 private:
  Completion& completion_;
  penstock_completion shown_{};
};

}  // namespace

void show(Completion const& completion, penstock_completion& shown) noexcept {
  shown = {};
  shown.size = sizeof(shown);
  shown.tile = handle(*completion.loan);
  shown.outcome = static_cast<std::int32_t>(completion.outcome);
  if (completion.failure == nullptr) return;
  shown.kind = status_of(completion.failure->kind);
  shown.stage = completion.failure->stage.c_str();
  shown.reason = completion.failure->reason.c_str();
}

CSource::CSource(penstock_source const* source) : source_(sized(source, "source")) {
  if (source_.next == nullptr) throw Error(ErrorKind::bad_argument, "The source has no function `next`: set it.");
}

bool CSource::next(Tile& tile) {
  return called("next", source_.next, source_.user, handle(tile)) != 0;
}

std::size_t CSource::fill(Tile& tile) {
  if (source_.fill == nullptr) return tile.filled;
  return static_cast<std::size_t>(called("fill", source_.fill, source_.user, handle(tile)));
}

Stages stages_of(penstock_stage const* stage) {
  penstock_stage const functions = sized(stage, "stage");
  if (functions.run == nullptr) throw Error(ErrorKind::bad_argument, "The stage has no function `run`: set it.");
  if ((functions.promises & ~known_promises) != 0) {
    throw Error(ErrorKind::unsupported,
                "The stage makes a promise that this version of the library does not know: update it.");
  }
  Stages stages{
      .make = [functions](StageContext const& context) { return std::make_unique<CStage>(functions, context); },
      .merge = [](Stage& one) { static_cast<CStage&>(one).merge(); },
      .order = {},
      .types = {}};
  return functions.in_order != 0 ? in_order(std::move(stages)) : stages;
}

Sink sink_of(penstock_sink const* sink) {
  penstock_sink const functions = sized(sink, "sink");
  if (functions.take == nullptr) throw Error(ErrorKind::bad_argument, "The sink has no function `take`: set it.");
  return [functions](Completion& completion) {
    ShownCompletion shown(completion);
    called("take", functions.take, functions.user, shown.get());
  };
}

}  // namespace penstock::c
