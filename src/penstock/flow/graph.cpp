// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/graph.hpp"

#include <atomic>
#include <deque>
#include <utility>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "penstock/core/current_failure.hpp"
#include "penstock/core/event_count.hpp"
#include "penstock/flow/arrivals.hpp"
#include "penstock/flow/lent_threads.hpp"

namespace penstock {
namespace {

namespace flow = oneapi::tbb::flow;

/// A journey as oneTBB carries it.
using Message = Journey*;

void run_host_stage(HostStage const& stage, Journey& journey, Recorder* recorder, Ranges* ranges) {
  if (journey.completion.failure != nullptr) return;
  auto const began = Recorder::Clock::now();
  try {
    RangeHere const range(ranges, Step::host, journey.sequence);
    stage.body(*journey.completion.loan);
    expect_filled_fits(*journey.completion.loan, "Host stage '" + stage.name + "'");
  } catch (...) {
    journey.completion.loan->filled = 0;
    journey.completion.outcome = Outcome::failed;
    journey.completion.failure = current_failure(stage.name, ErrorKind::bad_argument);
  }
  if (recorder == nullptr || !recorder->wants(journey.sequence)) return;
  recorder->note(recorder->row_here(), Step::host, journey.sequence, began, Recorder::Clock::now());
}

/// Lets oneTBB have so many threads, if that is more than it would take by itself.
std::unique_ptr<oneapi::tbb::global_control> allow(std::size_t threads) {
  using Control = oneapi::tbb::global_control;
  if (threads <= Control::active_value(Control::max_allowed_parallelism)) return nullptr;
  return std::make_unique<Control>(Control::max_allowed_parallelism, threads);
}

/// The graph whose body the thread is in, to tell it from one that may wait.
thread_local void const* working_for = nullptr;

/// oneTBB says 0 for as many as can be, too.
static_assert(std::size_t{flow::unlimited} == 0);

}  // namespace

struct Graph::Nodes {
  using HostNode = flow::function_node<Message, Message>;
  using EndNode = flow::function_node<Message>;

  Nodes(Options const& options, Step into_lanes, Step into_sink)
      : sink_at_once(options.sink_at_once && !options.ordered),
        spin(options.spin),
        to_lanes(std::move(into_lanes)),
        to_sink(std::move(into_sink)),
        threads(allow(options.consumers)),
        arena(static_cast<int>(options.consumers)),
        lent_threads(arena, options.cpus) {
    // A graph belongs to the arena it is made in.
    arena.execute([&] { build(options); });
  }

  void build(Options const& options) {
    graph.emplace();
    if (!sink_at_once) build_sink(options);
    if (options.host_stages.empty()) return;
    for (HostStage const& stage : options.host_stages) {
      host.push_back(
          std::make_unique<HostNode>(*graph, stage.at_once,
                                     [this, stage, turn = turns(stage.at_once == 1), recorder = options.recorder,
                                      ranges = options.ranges](Message message) {
                                       message->handed.take();
                                       run(turn, [&] { run_host_stage(stage, *message, recorder, ranges); });
                                       message->handed.give();
                                       return message;
                                     }));
      if (host.size() > 1) flow::make_edge(*host[host.size() - 2], *host.back());
    }
    lanes.emplace(*graph, flow::unlimited, [this](Message message) {
      message->handed.take();
      run(nullptr, [&] { leave_host(*message); });
    });
    flow::make_edge(*host.back(), *lanes);
  }

  void build_sink(Options const& options) {
    if (!options.ordered && !options.parallel_sink) {
      collector.emplace(*graph, flow::serial, [this, turn = turns(true)](Message first) {
        // It waits among the arrivals until this message takes it: there is one message for each time that they were
        // none.
        first->handed.take();
        collect(turn);
      });
      return;
    }
    sink.emplace(*graph, options.parallel_sink ? flow::unlimited : flow::serial,
                 [this, turn = turns(!options.parallel_sink)](Message message) {
                   message->handed.take();
                   run(turn, [&] { to_sink(*message); });
                   settle();
                 });
    if (options.ordered) {
      // Called by whoever pushes at that moment, for others as well.
      order.emplace(*graph, [](Message message) {
        message->handed.take();
        auto const sequence = static_cast<std::size_t>(message->sequence);
        message->handed.give();
        return sequence;
      });
      flow::make_edge(*order, *sink);
    }
  }

  /// What a node that runs one body at a time passes from each to the next; null for one that runs many.
  Baton* turns(bool one_at_a_time) { return one_at_a_time ? &batons.emplace_back() : nullptr; }

  /// Runs the body of a node, on a journey that was taken over before anything else was looked at.
  template <class Body>
  void run(Baton* turn, Body body) {
    if (turn != nullptr) turn->take();
    void const* const outer = std::exchange(working_for, this);
    body();
    working_for = outer;
    if (turn != nullptr) turn->give();
    ended.give();
  }

  /// One message for all tiles that came together: oneTBB takes more for one than all else on a tile's way.
  void collect(Baton* turn) {
    run(turn, [&] {
      for (Journey* journey = arrivals.take(); journey != nullptr;) {
        Journey* const next = journey->next;  // It is another tile's once it is through.
        to_sink(*journey);
        settle();
        journey = next;
      }
    });
  }

  /// A tile that failed before the lanes keeps its place and goes straight to the sink.
  void leave_host(Journey& journey) {
    if (journey.completion.failure == nullptr) {
      to_lanes(journey);
    } else {
      pass_on(journey);
    }
  }

  void pass_on(Journey& journey) {
    journey.completion.loan->sequence = journey.sequence;
    if (sink_at_once) {
      run(nullptr, [&] { to_sink(journey); });
      settle();
      return;
    }
    journey.handed.give();
    if (collector) {
      if (!arrivals.push(journey)) return;  // Whoever was first sends for all.
      collector->try_put(&journey);
      return call();
    }
    // The order refuses a place that it has passed on already: rather twice than never.
    if (!order || !order->try_put(&journey)) sink->try_put(&journey);  // It queues, so it takes all.
    call();
  }

  /// Tells who waits that something was put into a node, and only then: who saw it finds the work. If oneTBB left that
  /// to another who puts at the same moment, that one rings once it is there.
  void call() {
    puts.fetch_add(1, std::memory_order_seq_cst);
    bell.notify();
  }

  void owe() noexcept { owed.fetch_add(1, std::memory_order_relaxed); }
  /// Whoever settles the last is still in a body, or is waited for by the one who waits here.
  void settle() noexcept {
    if (owed.fetch_sub(1, std::memory_order_acq_rel) == 1) bell.notify();
  }

  /// Works while there is work, and sleeps while there is none: oneTBB's own wait stays awake for longer than tiles of
  /// a full link are apart.
  void wait() {
    for (;;) {
      auto const seen = puts.load(std::memory_order_seq_cst);
      bool const over = owed.load(std::memory_order_acquire) == 0;
      graph->wait_for_all();
      if (over) break;
      bell.await(
          [&] { return puts.load(std::memory_order_seq_cst) != seen || owed.load(std::memory_order_seq_cst) == 0; },
          spin, std::chrono::hours(1));
    }
    ended.take();
  }

  bool const sink_at_once;
  std::chrono::nanoseconds const spin;
  Step to_lanes;
  Step to_sink;
  std::deque<Baton> batons;
  Baton ended;                         ///< From each body to `wait`.
  std::atomic<std::int64_t> owed{0};   ///< Journeys on their way, and holds.
  std::atomic<std::uint64_t> puts{0};  ///< How often something was put into a node from outside.
  EventCount bell;
  std::unique_ptr<oneapi::tbb::global_control> threads;
  oneapi::tbb::task_arena arena;
  LentThreads lent_threads;
  std::optional<flow::graph> graph;
  std::vector<std::unique_ptr<HostNode>> host;
  std::optional<EndNode> lanes;
  std::optional<flow::sequencer_node<Message>> order;
  std::optional<EndNode> sink;
  Arrivals arrivals;
  std::optional<EndNode> collector;  ///< For a sink of one tile at a time, in no order.
};

Graph::Graph(Options const& options, Step to_lanes, Step to_sink)
    : nodes_(std::make_unique<Nodes>(options, std::move(to_lanes), std::move(to_sink))) {
  using Control = oneapi::tbb::global_control;
  std::size_t const lent = Control::active_value(Control::max_allowed_parallelism);
  if (lent < options.consumers) {
    remark_ = "oneTBB lends " + std::to_string(lent) + " threads instead of the " + std::to_string(options.consumers) +
              " consumers asked for: the application's oneapi::tbb::global_control allows no more.";
  }
}

Graph::~Graph() {
  wait();
}

void Graph::enter(Journey& journey) {
  journey.sequence = journey.completion.loan->sequence;
  nodes_->owe();
  if (nodes_->host.empty()) {
    nodes_->leave_host(journey);
  } else {
    journey.handed.give();
    nodes_->host.front()->try_put(&journey);
    nodes_->call();
  }
}

bool Graph::working_here() const noexcept {
  return working_for == nodes_.get();
}
void Graph::arrive(Journey& journey) {
  nodes_->pass_on(journey);
}
void Graph::hold() {
  nodes_->owe();
}
void Graph::release() {
  nodes_->settle();
}
void Graph::wait() {
  nodes_->wait();
}

}  // namespace penstock
