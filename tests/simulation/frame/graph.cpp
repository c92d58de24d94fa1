// SPDX-License-Identifier: Apache-2.0
// The graph of host stages, order and sink without oneTBB, whose threads would be no fibers. Simulations are linked
// with it in the place of src/engine/flow/graph.cpp and station.cpp.
#include "engine/flow/graph.hpp"

#include <deque>
#include <optional>
#include <vector>

#include "engine/flow/station.hpp"
#include "engine/machine/bound_thread.hpp"

namespace penstock {

void Station::push(TileRecord& record) noexcept {
  std::scoped_lock const lock(frame_.mutex);
  record.next = nullptr;
  (oldest_ == nullptr ? oldest_ : newest_->next) = &record;
  newest_ = &record;
  frame_.changed.notify_all();
}

void Station::serve(std::unique_lock<std::mutex>& lock) noexcept {
  TileRecord& record = *oldest_;
  oldest_ = record.next;
  ++serving_;
  ++frame_.serving;
  lock.unlock();
  work_.take(record, false);
  lock.lock();
  --serving_;
  --frame_.serving;
  frame_.changed.notify_all();
}

void LanesNode::leave(RecordGroup const& records) noexcept {
  std::vector<TileRecord*> all;
  for (TileRecord* record = records.newest; record != nullptr; record = record->next) all.push_back(record);
  for (; !all.empty(); all.pop_back()) next_->push(*all.back());
}

struct Graph::Nodes {
  Nodes(std::size_t consumers_wanted, std::vector<CpuSet> const& cpus) : others(consumers_wanted - 1) {
    for (std::size_t number = 0; number < others.size() && number + 1 < cpus.size(); ++number) {
      others[number] = cpus[number + 1];
    }
  }
  ~Nodes() {
    {
      std::scoped_lock const lock(frame.mutex);
      frame.over = true;
      frame.changed.notify_all();
    }
    consumers.clear();
  }

  void start() {
    for (CpuSet const& cpus : others) {
      consumers.emplace_back("ps-graph", cpus,
                             [this](std::stop_token const&) { serve_until([this] { return frame.over; }); });
    }
  }
  template <class Over>
  void serve_until(Over over) noexcept {
    std::unique_lock lock(frame.mutex);
    for (;;) {
      if (Station* const station = ready_station()) {
        station->serve(lock);
      } else if (over()) {
        return;
      } else {
        frame.changed.wait(lock);
      }
    }
  }
  Station* ready_station() noexcept {
    for (Station& station : stations) {
      if (station.ready()) return &station;
    }
    return nullptr;
  }

  std::vector<CpuSet> others;  ///< The CPUs of each consumer beside the thread that waits.
  Frame frame;
  std::deque<Station> stations;
  std::optional<LanesNode> lanes;
  std::deque<BoundThread> consumers;
};

Graph::Graph(std::size_t consumers, std::chrono::nanoseconds, std::vector<CpuSet> const& cpus)
    : nodes_(std::make_unique<Nodes>(consumers, cpus)) {}

Graph::~Graph() {
  wait();
}

Station& Graph::add(std::size_t at_once, StationWork& work) {
  std::scoped_lock const lock(nodes_->frame.mutex);
  return nodes_->stations.emplace_back(nodes_->frame, at_once, work);
}

LanesNode& Graph::add_lanes(std::size_t /*lanes*/, StationWork& work) {
  return nodes_->lanes.emplace(work);
}

void Graph::join(GraphPlace& from, GraphPlace& to) {
  from.lead_to(to);
}

void Graph::start() {
  nodes_->start();
}

void Graph::attach() {}

void Graph::owes_nothing() noexcept {
  std::scoped_lock const lock(nodes_->frame.mutex);
  nodes_->frame.changed.notify_all();
}

void Graph::wait() {
  nodes_->serve_until([this] { return debts_.none() && nodes_->frame.serving == 0; });
}

std::vector<CpuSet> Graph::bound_to() const {
  std::vector<CpuSet> all;
  for (BoundThread const& consumer : nodes_->consumers) all.push_back(consumer.bound_to());
  return all;
}

std::vector<std::string> Graph::remarks() const {
  std::vector<std::string> all;
  for (BoundThread const& consumer : nodes_->consumers) {
    if (consumer.binding_error()) all.push_back(*consumer.binding_error());
  }
  return all;
}

}  // namespace penstock
