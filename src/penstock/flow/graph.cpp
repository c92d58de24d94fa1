// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/graph.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <pthread.h>

#include "penstock/core/current_failure.hpp"
#include "penstock/machine/affinity.hpp"

namespace penstock {
namespace {

namespace flow = oneapi::tbb::flow;

/// A journey as oneTBB carries it.
using Message = Journey*;

void give(Journey& journey) {
  journey.handed.store(true, std::memory_order_release);
}
Journey& take(Message message) {
  static_cast<void>(message->handed.load(std::memory_order_acquire));
  return *message;
}

/// Names and binds the threads that oneTBB lends to the graph, and lets them go again.
class Christening final : public oneapi::tbb::task_scheduler_observer {
 public:
  Christening(oneapi::tbb::task_arena& arena, CpuSet cpus) : task_scheduler_observer(arena), cpus_(std::move(cpus)) {
    observe(true);
  }
  ~Christening() override { observe(false); }
  void on_scheduler_entry(bool is_worker) override {
    if (!is_worker) return;
    pthread_setname_np(pthread_self(), "ps-graph");
    bind_this_thread(cpus_);  // Refused or not, the thread works.
  }

 private:
  CpuSet const cpus_;
};

void run_host_stage(HostStage const& stage, Journey& journey) {
  if (journey.completion.failure != nullptr) return;
  try {
    stage.body(*journey.completion.loan);
  } catch (...) {
    journey.completion.outcome = Outcome::failed;
    journey.completion.failure = current_failure(stage.name, ErrorKind::bad_argument);
  }
}

/// oneTBB says 0 for as many as can be, too.
static_assert(std::size_t{flow::unlimited} == 0);

}  // namespace

struct Graph::Nodes {
  using HostNode = flow::function_node<Message, Message>;
  using EndNode = flow::function_node<Message>;

  Nodes(Options const& options, Step into_lanes, Step into_sink)
      : to_lanes(std::move(into_lanes)),
        to_sink(std::move(into_sink)),
        arena(static_cast<int>(options.consumers)),
        christening(arena, options.cpus) {
    // A graph belongs to the arena it is made in.
    arena.execute([&] { build(options); });
  }

  void build(Options const& options) {
    graph.emplace();
    sink.emplace(*graph, options.parallel_sink ? flow::unlimited : flow::serial, [this](Message message) {
      Journey& journey = take(message);
      in_turn([&] { to_sink(journey); });
      graph->release_wait();
    });
    if (options.ordered) {
      // Called by whoever pushes at that moment, for others as well; so it hands the journey on once more.
      order.emplace(*graph, [](Message message) {
        Journey& journey = take(message);
        auto const sequence = static_cast<std::size_t>(journey.completion.loan->sequence);
        give(journey);
        return sequence;
      });
      flow::make_edge(*order, *sink);
    }
    if (options.host_stages.empty()) return;
    for (HostStage const& stage : options.host_stages) {
      host.push_back(std::make_unique<HostNode>(*graph, stage.at_once, [this, stage](Message message) {
        Journey& journey = take(message);
        in_turn([&] { run_host_stage(stage, journey); });
        give(journey);
        return message;
      }));
      if (host.size() > 1) flow::make_edge(*host[host.size() - 2], *host.back());
    }
    lanes.emplace(*graph, flow::unlimited, [this](Message message) {
      Journey& journey = take(message);
      in_turn([&] { leave_host(journey); });
    });
    flow::make_edge(*host.back(), *lanes);
  }

  /// Runs the body of a node. It sees what bodies that ended before it wrote, and `wait` sees what it writes.
  template <class Body>
  void in_turn(Body body) {
    static_cast<void>(ended.load(std::memory_order_acquire));
    body();
    // One variable for all, added to and not stored, so that each that ends passes on what the others did, too.
    ended.fetch_add(1, std::memory_order_release);
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
    give(journey);
    if (order) {
      order->try_put(&journey);
    } else {
      sink->try_put(&journey);
    }
  }

  Step to_lanes;
  Step to_sink;
  /// Bodies that ended; as with Journey::handed a sanitizer sees this, and not what oneTBB does.
  std::atomic<std::uint64_t> ended{0};
  oneapi::tbb::task_arena arena;
  Christening christening;
  std::optional<flow::graph> graph;
  std::vector<std::unique_ptr<HostNode>> host;
  std::optional<EndNode> lanes;
  std::optional<flow::sequencer_node<Message>> order;
  std::optional<EndNode> sink;
};

Graph::Graph(Options const& options, Step to_lanes, Step to_sink)
    : nodes_(std::make_unique<Nodes>(options, std::move(to_lanes), std::move(to_sink))) {}

Graph::~Graph() {
  wait();
}

void Graph::enter(Journey& journey) {
  nodes_->graph->reserve_wait();
  if (nodes_->host.empty()) {
    nodes_->leave_host(journey);
  } else {
    give(journey);
    nodes_->host.front()->try_put(&journey);
  }
}

void Graph::arrive(Journey& journey) {
  nodes_->pass_on(journey);
}
void Graph::hold() {
  nodes_->graph->reserve_wait();
}
void Graph::release() {
  nodes_->graph->release_wait();
}
void Graph::wait() {
  nodes_->graph->wait_for_all();
  static_cast<void>(nodes_->ended.load(std::memory_order_acquire));
}

}  // namespace penstock
