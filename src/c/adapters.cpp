// SPDX-License-Identifier: Apache-2.0
#include "c/adapters.hpp"

#include <memory>
#include <string>
#include <utility>

#include "c/calls.hpp"

namespace penstock::c {
namespace {

/// Calls a function of the program.
///
/// Throws: std::runtime_error, if it returns a negative number.
template <class Number, class... Parameters, class... Arguments>
Number called(char const* name, Number (*function)(Parameters...), Arguments... arguments) {
  begin_callback();
  Number const number = function(arguments...);
  if (number < 0) throw_failure_of(name);
  return number;
}

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
  explicit ShownCompletion(Completion& completion) : completion_(completion) {
    shown_.size = sizeof(shown_);
    shown_.tile = handle(*completion.loan);
    shown_.outcome = static_cast<std::int32_t>(completion.outcome);
    if (completion.failure == nullptr) return;
    shown_.kind = status_of(completion.failure->kind);
    shown_.stage = completion.failure->stage.c_str();
    shown_.reason = completion.failure->reason.c_str();
  }
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

CSource::CSource(penstock_source const* source) : source_(sized(source, "source")) {
  if (source_.next == nullptr) throw Error(ErrorKind::bad_argument, "The source has no function `next`: set it.");
}

bool CSource::next(Tile& tile) {
  if (source_.fill == nullptr) tile.forget_filled();
  return called("next", source_.next, source_.user, handle(tile)) != 0;
}

std::size_t CSource::fill(Tile& tile) {
  if (source_.fill == nullptr) return tile.filled;
  return static_cast<std::size_t>(called("fill", source_.fill, source_.user, handle(tile)));
}

Stages stages_of(penstock_stage const* stage) {
  penstock_stage const functions = sized(stage, "stage");
  if (functions.run == nullptr) throw Error(ErrorKind::bad_argument, "The stage has no function `run`: set it.");
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
