// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/graph.hpp"

#include <atomic>
#include <cstdio>
#include <deque>
#include <optional>
#include <utility>

#include <oneapi/tbb/task_arena.h>

#include "penstock/core/current_failure.hpp"
#include "penstock/core/event_count.hpp"
#include "penstock/flow/consumers.hpp"
#include "penstock/flow/sequencer.hpp"
#include "penstock/flow/station.hpp"
#include "penstock/flow/works_for.hpp"

namespace penstock {
namespace {

/// A host stage, and what it is called in the text of a failure: made once, since later there may be no memory for it.
struct NamedStage {
  HostStage stage;
  std::string title = "Host stage '" + stage.name + "'";
};

void run_host_stage(NamedStage const& named, Journey& journey, Recorder* recorder, Ranges* ranges) noexcept {
  if (journey.completion.failure != nullptr) return;
  auto const began = Recorder::Clock::now();
  try {
    RangeHere const range(ranges, Step::host, journey.sequence);
    named.stage.body(*journey.completion.loan);
    expect_filled_fits(*journey.completion.loan, named.title);
  } catch (...) {
    journey.completion.loan->forget_filled();
    journey.completion.outcome = Outcome::failed;
    journey.completion.failure = current_failure(named.stage.name, ErrorKind::bad_argument);
  }
  if (recorder == nullptr || !recorder->wants(journey.sequence)) return;
  recorder->note_here(Step::host, journey.sequence, began, Recorder::Clock::now());
}

}  // namespace

struct Graph::Nodes {
  Nodes(Options const& options, Step into_lanes, Step into_sink)
      : owner(options.owner),
        sink_at_once(options.sink_at_once && !options.ordered),
        spin(options.spin),
        to_lanes(std::move(into_lanes)),
        to_sink(std::move(into_sink)),
        // All slots are reserved for threads that enter it by themselves, so oneTBB starts none for it.
        arena(static_cast<int>(options.consumers), static_cast<unsigned>(options.consumers)) {
    // A graph belongs to the arena it is made in.
    arena.execute([&] { build(options); });
    consumers.emplace(arena, options.consumers - 1, options.cpus);
  }

  void build(Options const& options) {
    graph.emplace();
    if (!sink_at_once) build_sink(options);
    Station* next = nullptr;
    for (auto stage = options.host_stages.rbegin(); stage != options.host_stages.rend(); ++stage) {
      next = &add(stage->at_once, [this, named = NamedStage{*stage}, next, recorder = options.recorder,
                                   ranges = options.ranges](Journey& journey) {
        run_host_stage(named, journey, recorder, ranges);
        if (next != nullptr) return next->push(journey);
        leave_host(journey);
      });
    }
    host = next;
  }

  void build_sink(Options const& options) {
    auto const sink_one = [this](Journey& journey) {
      to_sink(journey);
      settle();
    };
    sink = &add(options.parallel_sink ? Station::unlimited : 1, sink_one);
    if (!options.ordered) return;
    if (options.tiles == 0) {
      throw Error(ErrorKind::bad_argument, "A graph that keeps tiles in order has to be told how many there are.");
    }
    Sequencer::Next into_sink = sink_one;
    if (options.parallel_sink) into_sink = [into = sink](Journey& journey) { into->push(journey); };
    sink = &add(1, [order = std::make_shared<Sequencer>(options.tiles, std::move(into_sink))](Journey& journey) {
      order->take(journey);
    });
  }

  Station& add(std::size_t at_once, Step body) {
    return stations.emplace_back(
        *graph, at_once, [this, body = std::move(body)](Journey& journey) { run([&] { body(journey); }); },
        [this] { call(); });
  }

  template <class Body>
  void run(Body body) {
    WorksFor const working(owner);
    body();
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
      run([&] { to_sink(journey); });
      settle();
      return;
    }
    sink->push(journey);
  }

  /// Tells the thread that waits that there is work for a consumer, and only then: a thread that saw the count finds
  /// the work.
  void call() {
    puts.fetch_add(1, std::memory_order_seq_cst);
    bell.notify();
  }

  void owe() noexcept { owed.fetch_add(1, std::memory_order_relaxed); }
  /// The thread that settles the last journey is still in a body, or the thread in `wait` waits for it.
  void settle() noexcept {
    if (owed.fetch_sub(1, std::memory_order_acq_rel) == 1) bell.notify();
  }

  /// Works while there is work, and sleeps while there is none: oneTBB's own wait stays awake for longer than the time
  /// between two tiles of a full link.
  void wait() {
    for (;;) {
      auto const seen = puts.load(std::memory_order_seq_cst);
      bool const over = owed.load(std::memory_order_acquire) == 0;
      graph->wait_for_all();
      for (Station& station : stations) refused += station.serve_refused();
      if (over) break;
      bell.await(
          [&] { return puts.load(std::memory_order_seq_cst) != seen || owed.load(std::memory_order_seq_cst) == 0; },
          spin, std::chrono::hours(1));
    }
    for (Station const& station : stations) station.take_ended();
  }

  void const* const owner;
  bool const sink_at_once;
  std::chrono::nanoseconds const spin;
  Step to_lanes;
  Step to_sink;
  std::atomic<std::int64_t> owed{0};   ///< Journeys on their way, and holds.
  std::atomic<std::uint64_t> puts{0};  ///< How often there was work for a consumer that may be asleep.
  std::size_t refused = 0;             ///< Calls for which oneTBB had no memory.
  EventCount bell;
  // These are destroyed in the reverse order, also when one of them cannot be made.
  oneapi::tbb::task_arena arena;
  std::optional<CallGraph> graph;
  std::deque<Station> stations;
  Station* host = nullptr;  ///< The first of the host stages; null if there are none.
  Station* sink = nullptr;  ///< Where completed journeys go; null with `sink_at_once`.
  std::optional<Consumers> consumers;
};

Graph::Graph(Options const& options, Step to_lanes, Step to_sink)
    : nodes_(std::make_unique<Nodes>(options, std::move(to_lanes), std::move(to_sink))) {}

Graph::~Graph() {
  try {
    attach();
  } catch (...) {
    // Without memory oneTBB cannot be asked to take the nodes apart; nothing is under way in them.
    std::fprintf(stderr, "penstock: a graph was left as it is: there was no memory to take it apart.\n");
    static_cast<void>(nodes_.release());
    return;
  }
  wait();
}

void Graph::attach() {
  nodes_->arena.execute([] {});
}

void Graph::enter(Journey& journey) {
  journey.sequence = journey.completion.loan->sequence;
  nodes_->owe();
  if (nodes_->host == nullptr) {
    nodes_->leave_host(journey);
  } else {
    nodes_->host->push(journey);
  }
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

std::vector<std::string> Graph::remarks() const {
  std::vector<std::string> all = nodes_->consumers->remarks();
  if (nodes_->refused > 0) {
    all.push_back(
        "oneTBB had no memory for " + std::to_string(nodes_->refused) +
        " of its messages, and the tiles waited until another thread came by: leave the process more memory.");
  }
  return all;
}

}  // namespace penstock
