// SPDX-License-Identifier: Apache-2.0
// Pipelines that are pulled or pushed, of all options, once or several times, to the end or stopped, on devices that
// are healthy or not.
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "chaos/chaos_case.hpp"
#include "chaos/delays.hpp"
#include "chaos/ledger.hpp"
#include "chaos/world.hpp"
#include <time.h>

#include "engine/core/pool.hpp"

namespace penstock::chaos {
namespace {

/// Decisions that are drawn for one run.
struct Plan {
  std::uint64_t tiles = 0;
  std::optional<std::uint64_t> stop_after;   ///< Completions after which it is stopped.
  std::optional<std::uint64_t> drain_after;  ///< Completions after which a pushed run is drained, not once all was fed.
  bool source_throws = false;
  bool sink_throws = false;
  bool sink_keeps = false;
  std::uint64_t feeders = 1;
  bool healthy = true;

  bool all_done() const { return healthy && !stop_after && !source_throws; }
};

Plan draw_plan(Case& the_case, PipelineOptions const& options, bool pushed, bool healthy) {
  Plan plan;
  plan.healthy = healthy;
  plan.tiles = the_case.draw.one_in(16) ? 0 : the_case.draw.of_any_size(7);
  the_case.tell("run_tiles", plan.tiles);
  if (the_case.once_in(3, "stop")) plan.stop_after = the_case.pick("stop_after", 0, plan.tiles);
  if (pushed && the_case.once_in(3, "drain_early")) plan.drain_after = the_case.pick("drain_after", 0, plan.tiles);
  plan.source_throws = !pushed && the_case.once_in(6, "source_throws");
  plan.sink_throws = the_case.once_in(6, "sink_throws");
  plan.sink_keeps = options.tuning.tiles >= 4 && the_case.once_in(4, "sink_keeps");
  plan.feeders = the_case.pick("feeders", 1, 3);
  return plan;
}

std::size_t filled_of(std::uint64_t tag, std::size_t room) {
  return tag % 5 == 0 ? room : Draw(tag).below(room + 1);
}

/// One run of a pipeline, and all that its threads share.
class PlannedRun {
 public:
  PlannedRun(Case& the_case, Pipeline& pipeline, Plan const& plan)
      : case_(the_case),
        pipeline_(pipeline),
        plan_(plan),
        ledger_(the_case, {.ordered = pipeline.options().ordered,
                           .all_done = plan.all_done(),
                           .added = 1 + static_cast<unsigned>(pipeline.options().host_stages.size())}) {}

  void pull(Stages const& stages);
  void push(Stages const& stages);

 private:
  class Tags;
  Sink sink();
  void feed(Draw draw);
  bool feed_one(Feed& feed, Draw& draw);
  void submit(Feed& feed, Loan loan, std::uint64_t tag, bool with_try);
  void finish(Report const& report);

  Case& case_;
  Pipeline& pipeline_;
  Plan const plan_;
  Ledger ledger_;
  std::mutex kept_mutex_;
  Loan kept_;
  std::atomic<std::uint64_t> next_tag_{0};
  std::atomic<std::uint64_t> seen_{0};
  std::atomic<std::size_t> feeding_{0};
};

/// Its tags are the sequences.
class PlannedRun::Tags final : public Source {
 public:
  explicit Tags(PlannedRun& run) : run_(run) {}
  bool next(Tile& tile) override {
    if (given_ == run_.plan_.tiles) return false;
    tile.tag = given_++;
    run_.ledger_.submitted(tile.tag);
    return true;
  }
  std::size_t fill(Tile& tile) override {
    if (run_.plan_.source_throws && tile.tag % 7 == 3) throw Error(ErrorKind::system, "This tile cannot be filled.");
    std::size_t const filled = filled_of(tile.tag, tile.input().size());
    write_content(tile.tag, tile.input().first(filled));
    return filled;
  }

 private:
  PlannedRun& run_;
  std::uint64_t given_ = 0;
};

Sink PlannedRun::sink() {
  return [this](Completion& completion) {
    auto const tag = completion.loan->tag;
    ledger_.completed(completion);
    auto const count = seen_.fetch_add(1) + 1;
    if (plan_.stop_after && count == *plan_.stop_after) pipeline_.stop();
    if (plan_.sink_keeps && tag % 3 == 1) {
      std::scoped_lock const lock(kept_mutex_);
      kept_ = std::move(completion.loan);
    }
    if (plan_.sink_throws && tag % 11 == 5) {
      ledger_.sink_threw();
      throw Error(ErrorKind::system, "The sink cannot have this.");
    }
  };
}

void PlannedRun::finish(Report const& report) {
  kept_ = {};
  ledger_.close(report);
  expect_tiles_home(case_, pipeline_.pool());
}

void PlannedRun::pull(Stages const& stages) {
  Tags source(*this);
  std::stop_source stop;
  if (plan_.stop_after && *plan_.stop_after == 0) stop.request_stop();
  finish(pipeline_.run(source, stages, sink(), stop.get_token()));
}

void PlannedRun::submit(Feed& feed, Loan loan, std::uint64_t tag, bool with_try) {
  loan->tag = tag;
  loan->filled = filled_of(tag, loan->input().size());
  write_content(tag, loan->input().first(loan->filled));
  if (with_try) {
    if (feed.try_submit(loan)) ledger_.submitted(tag);
    return;
  }
  try {
    feed.submit(std::move(loan));
    ledger_.submitted(tag);
  } catch (Error const&) {  // Drained: it has no completion.
    case_.expect(plan_.drain_after.has_value(), "a submit was refused though the pipeline was not drained");
  }
}

/// False once the pipeline takes no more.
bool PlannedRun::feed_one(Feed& feed, Draw& draw) {
  auto const tag = next_tag_.fetch_add(1);
  if (tag >= plan_.tiles) return false;
  std::optional<Loan> loan;
  if (draw.one_in(3)) loan = feed.try_borrow();
  try {
    if (!loan) loan = feed.borrow();
  } catch (Error const&) {
    case_.expect(!plan_.healthy || plan_.stop_after || plan_.drain_after, "a borrow was refused by a healthy pipeline");
    return false;
  }
  if (draw.one_in(16)) return true;  // It goes home as it is.
  submit(feed, std::move(*loan), tag, draw.one_in(2));
  return true;
}

void PlannedRun::feed(Draw draw) {
  Feed feed = pipeline_.feed();
  while (feed_one(feed, draw)) {
  }
  feeding_.fetch_sub(1);
}

void PlannedRun::push(Stages const& stages) {
  pipeline_.start(stages, sink());
  if (plan_.stop_after && *plan_.stop_after == 0) pipeline_.stop();
  feeding_.store(plan_.feeders);
  std::vector<std::jthread> feeders;
  for (std::uint64_t k = 0; k < plan_.feeders; ++k) {
    feeders.emplace_back([this, draw = case_.draw.branch(k)] { feed(draw); });
  }
  if (plan_.drain_after) {
    while (seen_.load() < *plan_.drain_after && feeding_.load() > 0) std::this_thread::yield();
  } else {
    feeders.clear();
  }
  Report const report = pipeline_.drain();
  feeders.clear();
  finish(report);
}

/// A lane looks every 50 ms, the first look lets its count start again, and each later one counts as a quarter of the
/// patience.
void take_longer_than_patience() {
  timespec const time{.tv_sec = 0, .tv_nsec = 400'000'000};
  nanosleep(&time, nullptr);
}

/// Lets a pipeline have some runs, as long as it is fit for them.
void run_some(Case& the_case, World& world, bool healthy) {
  PipelineOptions options = world.draw_options(the_case);
  Stages stages = draw_stages(the_case, options);
  // Patience is so short that a device is abandoned that is only slow.
  if (!healthy && the_case.once_in(4, "short_patience")) {
    options.tuning.patience = std::chrono::milliseconds(1);
    stages = on_device([](DeviceTile const& tile, StreamRef stream) {
      if (tile.tag == 9) stream.launch(1, [](std::uint32_t) { take_longer_than_patience(); });
      add_one(tile.input, tile.output, stream);
      return tile.input.size();
    });
    options.tuning.transport = Transport::copies;
  }
  std::optional<Pipeline> pipeline(std::in_place, world.devices(), options);
  for (std::uint64_t left = the_case.pick("runs", 1, 3); left > 0; --left) {
    bool const pushed = the_case.once_in(2, "pushed");
    Plan const plan = draw_plan(the_case, pipeline->options(), pushed, healthy);
    PlannedRun run(the_case, *pipeline, plan);
    try {
      pushed ? run.push(stages) : run.pull(stages);
    } catch (Error const& error) {
      the_case.expect(!healthy, std::string("a run of healthy devices threw: ") + error.what());
      break;
    }
    if (pipeline->pool().stranded() == pipeline->pool().size()) break;
  }
  expect_tiles_home(the_case, pipeline->pool());
}

}  // namespace

void run_pipelines(Case& the_case) {
  begin(the_case.draw.next(), true);
  World world(the_case);
  run_some(the_case, world, true);
}

void run_faulty_pipelines(Case& the_case) {
  begin(the_case.draw.next(), false);
  World world(the_case);
  Trouble const trouble(the_case, world);
  run_some(the_case, world, false);
}

}  // namespace penstock::chaos
