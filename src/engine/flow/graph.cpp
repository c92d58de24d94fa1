// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/graph.hpp"

#include <deque>
#include <exception>
#include <future>
#include <optional>
#include <vector>

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "engine/core/say.hpp"
#include "engine/flow/station.hpp"
#include "engine/machine/bound_thread.hpp"

namespace penstock {
namespace {

/// Threads of penstock's own that work in an arena of oneTBB's, from the constructor to the destructor.
///
/// oneTBB starts its own threads when work comes; if the system refuses one, an exception interrupts that work. These
/// threads exist before, so the arena reserves all of its slots for them and asks for none.
class Consumers {
 public:
  /// Blocks: until each has entered the arena.
  /// Throws: Error, if the system refuses a thread; std::bad_alloc.
  Consumers(oneapi::tbb::task_arena& arena, std::vector<CpuSet> const& cpus);
  Consumers(Consumers const&) = delete;
  Consumers& operator=(Consumers const&) = delete;
  /// Blocks: until each has left the arena; the arena must have nothing left to do.
  ~Consumers();

  std::vector<CpuSet> bound_to() const;
  /// Threads that could not be bound, in words.
  std::vector<std::string> remarks() const;

 private:
  /// Keeps one of them in the arena: it waits for a task that is never run.
  struct Post {
    oneapi::tbb::task_group group;
    oneapi::tbb::task_handle held = group.defer([] {});
    std::promise<void> entered;
  };
  void end() noexcept;

  std::deque<Post> posts_;
  std::vector<BoundThread> threads_;
};

Consumers::Consumers(oneapi::tbb::task_arena& arena, std::vector<CpuSet> const& cpus) {
  try {
    threads_.reserve(cpus.size());
    for (CpuSet const& where : cpus) {
      Post& post = posts_.emplace_back();
      auto inside = post.entered.get_future();
      threads_.emplace_back("ps-graph", where, [&arena, &post](std::stop_token const&) {
        bool there = false;
        try {
          arena.execute([&] {
            there = true;
            post.entered.set_value();
            post.group.wait();
          });
        } catch (...) {
          if (!there) post.entered.set_exception(std::current_exception());
        }
      });
      inside.get();
    }
  } catch (...) {
    end();
    throw;
  }
}

Consumers::~Consumers() {
  end();
}

void Consumers::end() noexcept {
  for (Post& post : posts_) post.held = {};
  threads_.clear();
}

std::vector<CpuSet> Consumers::bound_to() const {
  std::vector<CpuSet> all;
  for (auto const& thread : threads_) all.push_back(thread.bound_to());
  return all;
}

std::vector<std::string> Consumers::remarks() const {
  std::vector<std::string> all;
  for (auto const& thread : threads_) {
    if (thread.binding_error()) all.push_back(*thread.binding_error());
  }
  return all;
}

}  // namespace

struct Graph::Nodes {
  Nodes(Debts const& owed, std::size_t consumers_wanted, std::chrono::nanoseconds spins,
        std::vector<CpuSet> const& cpus)
      : debts(owed),
        spin(spins),
        others(consumers_wanted - 1),
        // All slots are reserved for threads that enter it by themselves, so oneTBB starts none for it.
        arena(static_cast<int>(consumers_wanted), static_cast<unsigned>(consumers_wanted)) {
    for (std::size_t number = 0; number < others.size() && number + 1 < cpus.size(); ++number) {
      others[number] = cpus[number + 1];
    }
    // A graph belongs to the arena it is made in.
    arena.execute([&] { graph.emplace(); });
  }

  Station& add(std::size_t at_once, StationWork& work) {
    arena.execute([&] { stations.emplace_back(*graph, at_once, work); });
    return stations.back();
  }

  LanesNode& add_lanes(std::size_t lanes_there, StationWork& work) {
    arena.execute([&] { lanes.emplace(*graph, lanes_there + 1, work); });
    return *lanes;
  }

  /// Works while there is work, and sleeps while there is none: oneTBB's own wait stays awake for longer than the time
  /// between two tiles of a full link.
  void wait() {
    for (;;) {
      auto const seen = graph->calls();
      bool const over = debts.none();
      graph->wait_for_all();
      for (Station& station : stations) refused += station.serve_refused();
      if (over) break;
      graph->await_call(seen, debts, spin);
    }
    for (Station const& station : stations) station.take_ended();
  }

  Debts const& debts;
  std::chrono::nanoseconds const spin;
  std::vector<CpuSet> others;  ///< The CPUs of each consumer beside the thread that waits.
  std::size_t refused = 0;     ///< Calls for which oneTBB had no memory.
  // These are destroyed in the reverse order, also when one of them cannot be made.
  oneapi::tbb::task_arena arena;
  std::optional<CallGraph> graph;
  std::deque<Station> stations;
  std::optional<LanesNode> lanes;
  std::optional<Consumers> consumers;
};

Graph::Graph(std::size_t consumers, std::chrono::nanoseconds spin, std::vector<CpuSet> const& cpus)
    : nodes_(std::make_unique<Nodes>(debts_, consumers, spin, cpus)) {}

Graph::~Graph() {
  try {
    attach();
  } catch (...) {
    // oneTBB cannot be asked without memory to take the nodes apart; nothing is under way in them.
    say("a graph was left as it is: there was no memory to take it apart.");
    static_cast<void>(nodes_.release());
    return;
  }
  wait();
}

Station& Graph::add(std::size_t at_once, StationWork& work) {
  return nodes_->add(at_once, work);
}

LanesNode& Graph::add_lanes(std::size_t lanes, StationWork& work) {
  return nodes_->add_lanes(lanes, work);
}

void Graph::join(GraphPlace& from, GraphPlace& to) {
  from.lead_to(to.in());
}

void Graph::start() {
  nodes_->consumers.emplace(nodes_->arena, nodes_->others);
}

void Graph::attach() {
  nodes_->arena.execute([] {});
}

void Graph::owes_nothing() noexcept {
  nodes_->graph->wake();
}

void Graph::wait() {
  nodes_->wait();
}

std::vector<CpuSet> Graph::bound_to() const {
  return nodes_->consumers ? nodes_->consumers->bound_to() : std::vector<CpuSet>();
}

std::vector<std::string> Graph::remarks() const {
  std::vector<std::string> all;
  if (nodes_->consumers) all = nodes_->consumers->remarks();
  if (nodes_->refused > 0) {
    all.push_back(
        "oneTBB had no memory for " + std::to_string(nodes_->refused) +
        " of its messages, and the tiles waited until another thread came by: leave the process more memory.");
  }
  return all;
}

}  // namespace penstock
