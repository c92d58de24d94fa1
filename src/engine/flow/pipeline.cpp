// SPDX-License-Identifier: Apache-2.0
#include "penstock/pipeline.hpp"

#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "engine/core/host_time.hpp"
#include "engine/core/pool.hpp"
#include "engine/core/say.hpp"
#include "engine/core/works_for.hpp"
#include "engine/flow/expect_fitting.hpp"
#include "engine/flow/pipeline_calls.hpp"
#include "engine/flow/pipeline_parts.hpp"
#include "engine/flow/producers.hpp"

namespace penstock {
namespace {

Error ended() {
  return {ErrorKind::ended, "The pipeline takes no more tiles: it was stopped or drained, or it lost its devices."};
}

/// Calls `function` when the scope ends.
template <class Function>
auto at_end(Function function) {
  struct End {
    Function call;
    explicit End(Function at) : call(std::move(at)) {}
    End(End const&) = delete;
    End& operator=(End const&) = delete;
    ~End() { call(); }
  };
  return End(std::move(function));
}

/// Returns what the source did not pass on, which decides whether the run went well; asks again if memory was short.
std::vector<LeftOut> left_out_of(Source const& source) {
  auto const ask = [&] {
    std::vector<LeftOut> all;
    add_left_out(all, source.left_out());
    return all;
  };
  try {
    return ask();
  } catch (std::bad_alloc const&) {
    return ask();
  }
}

/// Reports what a run lost that was started and never drained: its report has no reader.
void say_what_was_lost(Report const& report) {
  if (report.ok()) return;
  for (Failure const& failure : report.run_failures) {
    say("a pipeline was destroyed before it was drained, and its run failed in %s: %s", failure.stage.c_str(),
        failure.reason.c_str());
  }
  if (report.tiles_cancelled + report.tiles_failed + report.sink_failures == 0) return;
  say("a pipeline was destroyed before it was drained: of its %llu tiles %llu were cancelled, %llu failed, and the "
      "sink threw on %llu. Drain it first, and look at its report.",
      static_cast<unsigned long long>(report.tiles()), static_cast<unsigned long long>(report.tiles_cancelled),
      static_cast<unsigned long long>(report.tiles_failed), static_cast<unsigned long long>(report.sink_failures));
}

void expect_tile_of(Pool const& pool, Loan const& loan) {
  if (!loan) {
    throw Error(ErrorKind::bad_argument, "The loan is empty: borrow a tile, fill it, and submit it once.");
  }
  if (&loan->home() != &pool) {
    throw Error(ErrorKind::bad_argument, "The tile is another pipeline's: submit it where it was borrowed.");
  }
  expect_filled_fits(*loan, "The caller of submit");
}

}  // namespace

Pipeline::Pipeline(DeviceGroup const& devices, PipelineOptions options, std::stop_token const& stop)
    : parts_(new Parts(devices.all(), std::move(options), stop)) {}

Pipeline::~Pipeline() {
  if (!parts_->process.is_current()) return;
  auto const calls = parts_->calls;
  if (WorksFor::here(&parts_->pool) || parts_->is_thread_of_a_device() || calls->inside_here()) {
    say("a pipeline was destroyed by its own sink, stage or source, by a kernel on its device, or within a call of its "
        "own, which it would wait for: its tiles stay where they are. Leave that first, and let another thread destroy "
        "the pipeline or exit.");
    if (auto const run = parts_->current()) run->end_but_for_this_thread();
    return;
  }
  parts_->stop_for_good();
  calls->await_all();
  if (parts_->current() != nullptr) {
    try {
      say_what_was_lost(parts_->drain([] {}));
    } catch (std::exception const& exception) {
      say("the pipeline could not report on its last run: %s", exception.what());
    }
  }
  delete parts_;
  calls->let_go();
}

Report Pipeline::run(Source& source, Stages const& stages, Sink sink, std::stop_token stop) {
  Parts& parts = *parts_;  // They stay, also if a function of the user that is called below destroys the pipeline.
  PipelineCalls::Inside const inside(parts.calls);
  expect_filling(source.types(), parts.plan.options.tile);
  auto const run = parts.open_run(Input::pulled, stages, std::move(sink));
  // However the run ends, no thread finds it any more; and if no thread finished it, it winds itself up.
  auto const closed = at_end([&] { parts.close_run(); });
  std::stop_callback const pass_on(std::move(stop), [&] { run->stop(); });
  Producers producers(*run, parts.pool, source, parts.plan.producers, parts.plan.options.tuning.patience,
                      parts.plan.options.watching.recorder, parts.plan.options.watching.ranges);
  Report report = run->finish();
  report.borrow_wait = producers.borrow_wait();
  report.fill = producers.fill();
  report.producers_rest = producers.rested();
  report.left_out = left_out_of(source);
  add_to_report([&] {
    for (auto& remark : producers.remarks()) report.remarks.push_back(std::move(remark));
    for (auto& remark : source.remarks()) report.remarks.push_back(std::move(remark));
    std::vector<PlacedThreads> threads = run->placed();
    threads.insert(threads.begin(), {"producer", producers.bound_to()});
    parts.complete(report, threads);
    parts.tell_hooks(report, *run);
  });
  report.unread = UnreadReport(report);
  return report;
}

void Pipeline::start(Stages stages, Sink sink) {
  PipelineCalls::Inside const inside(parts_->calls);
  parts_->open_run(Input::pushed, std::move(stages), std::move(sink));
}

Report Pipeline::drain() {
  return drain([] {});
}

Report Pipeline::drain(std::function<void()> const& hand_in_rest) {
  PipelineCalls::Inside const inside(parts_->calls);
  Report report = parts_->drain(hand_in_rest);
  report.unread = UnreadReport(report);
  return report;
}

void Pipeline::stop() noexcept {
  if (auto const run = parts_->current()) run->stop();
}

bool Pipeline::running() const noexcept {
  return parts_->current() != nullptr;
}
Snapshot Pipeline::snapshot() const {
  return parts_->snapshot();
}
PipelineOptions const& Pipeline::options() const noexcept {
  return parts_->plan.options;
}
std::vector<GraphNode> Pipeline::graph() const {
  return nodes_of(route_options(parts_->plan.options, {}, parts_->plan.lanes.size(), {}));
}
Pool& Pipeline::pool() noexcept {
  return parts_->pool;
}

Loan Feed::borrow() const {
  if (auto loan = try_borrow()) return std::move(*loan);
  auto loan = wait_for_tile(*pipeline_->parts_->fed(), std::stop_token{});
  if (!loan) throw ended();
  return std::move(*loan);
}

std::optional<Loan> Feed::borrow(std::stop_token const& stop) const {
  if (stop.stop_requested()) return std::nullopt;
  if (auto loan = try_borrow()) return loan;
  auto const run = pipeline_->parts_->current();
  if (run == nullptr || run->input() == Input::pulled) return std::nullopt;
  return wait_for_tile(*run, stop);
}

std::optional<Loan> Feed::wait_for_tile(Run& run, std::stop_token const& stop) const {
  if (run.ending()) return std::nullopt;
  if (run.working_here()) {
    throw Error(ErrorKind::bad_argument,
                "No tile is home, and a sink or stage that waits for one keeps its own: use try_borrow() there, or "
                "borrow on another thread.");
  }
  // There are two reasons to end the wait, and one token to wait with.
  std::stop_source either;
  std::stop_callback const asked(stop, [&] { either.request_stop(); });
  std::stop_callback const ending(run.enough(), [&] { either.request_stop(); });
  return pipeline_->parts_->feed_waits.borrow(either.get_token(), pipeline_->parts_->plan.layout.part_here(),
                                              [&run] { return run.under_way() != 0; });
}

void Feed::expect_open() const {
  if (pipeline_->parts_->fed()->ending()) throw ended();
}

std::optional<Loan> Feed::try_borrow() const {
  Rundown::Pass const in(pipeline_->parts_->open_input);
  Run const* const run = in ? pipeline_->parts_->fed_run.load(std::memory_order_acquire) : nullptr;
  if (run == nullptr || run->ending()) return std::nullopt;
  return pipeline_->parts_->feed_waits.try_borrow(pipeline_->parts_->plan.layout.part_here());
}

void Feed::submit(Loan loan) const {
  HostTime::pay();
  if (loan && try_submit(loan)) return;
  static_cast<void>(pipeline_->parts_->fed());
  expect_tile_of(pipeline_->pool(), loan);
  throw ended();  // It was drained meanwhile.
}

bool Feed::try_submit(Loan& loan) const {
  expect_tile_of(pipeline_->pool(), loan);
  Rundown::Pass const in(pipeline_->parts_->open_input);
  Run* const run = in ? pipeline_->parts_->fed_run.load(std::memory_order_acquire) : nullptr;
  if (run == nullptr) return false;
  pipeline_->parts_->feed_waits.submitted(loan);
  run->submit(std::move(loan));
  return true;
}

}  // namespace penstock
