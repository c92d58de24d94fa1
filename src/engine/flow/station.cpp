// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/station.hpp"

#include <utility>

#include <oneapi/tbb/task_arena.h>

namespace penstock {
namespace {

constexpr std::uint32_t look_again = std::uint32_t{1} << 31;

}  // namespace

thread_local bool CallGraph::counted = false;

/// Neither node has a limit: a node with a limit allocates where an exception would leave it locked for good.
Station::Station(CallGraph& graph, std::size_t at_once, StationWork& work)
    : graph_(graph),
      at_once_(at_once),
      work_(work),
      node_(graph, oneapi::tbb::flow::unlimited, [this](RecordGroup const& records, auto&) noexcept { keep(records); }),
      consumer_(graph, oneapi::tbb::flow::unlimited, [this](oneapi::tbb::flow::continue_msg) { serve(); }) {}

LanesNode::LanesNode(CallGraph& graph, std::size_t ways_out, StationWork& work)
    : in_(graph, oneapi::tbb::flow::unlimited,
          // A station passes on one record at a time. The analyzer follows oneTBB's `noexcept(body(RecordGroup()))`.
          // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
          [&work](RecordGroup const& records, auto&) noexcept { work.take(*records.newest, false); }) {
  for (std::size_t way = 0; way < ways_out; ++way) out_.emplace_back(graph);
}

void Station::lead_to(oneapi::tbb::flow::receiver<RecordGroup>& next) {
  oneapi::tbb::flow::make_edge(std::get<0>(node_.output_ports()), next);
}

void LanesNode::lead_to(oneapi::tbb::flow::receiver<RecordGroup>& next) {
  for (WayOut& way : out_) oneapi::tbb::flow::make_edge(way, next);
}

void Station::keep(RecordGroup const& records) noexcept {
  std::size_t calls = 0;
  if (at_once_ == unlimited) {  // A call for each record; once kept, it may be another tile's.
    for (TileRecord const* record = records.newest; record != nullptr; record = record->next) ++calls;
  }
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): as in LanesNode.
  bool const first = arrivals_.push(*records.newest, *records.oldest);
  if (at_once_ == unlimited) {
    for (; calls > 0; --calls) graph_.call(consumer_, refused_);
  } else if (first) {
    call();  // It serves all of them.
  }
}

/// Makes sure that a consumer looks at the arrivals after this: a new one, or one that has not left.
void Station::call() noexcept {
  std::uint32_t seen = serving_.load(std::memory_order_relaxed);
  for (;;) {
    bool const room = (seen & ~look_again) < at_once_;
    // Release: the consumer that clears the bit, or the one that is sent, sees what was pushed.
    if (serving_.compare_exchange_weak(seen, room ? seen + 1 : seen | look_again, std::memory_order_acq_rel)) {
      if (room) graph_.call(consumer_, refused_);
      return;
    }
  }
}

std::size_t Station::serve_refused() noexcept {
  std::size_t const calls = refused_.exchange(0, std::memory_order_acquire);
  for (std::size_t call = 0; call < calls; ++call) serve();
  return calls;
}

/// A body that waits for tasks of its own, holding a lock perhaps, must not be given another body: so it is isolated.
void Station::serve() noexcept {
  // Acquire: the consumer sees what the one before it did, since this one was called after that one's end.
  static_cast<void>(serving_.load(std::memory_order_acquire));
  oneapi::tbb::this_task_arena::isolate([this] {
    if (at_once_ != 1) return serve_some();
    do {
      bool follows = false;  // Records taken later may have come later.
      for (TileRecord* record = arrivals_.take(); record != nullptr;) {
        TileRecord* const next = record->next;  // After the work it may belong to another tile.
        work_.take(*record, std::exchange(follows, true));
        record = next;
      }
    } while (!leave());
  });
  ended_.give();
}

/// Serves several consumers at once: each takes one record at a time.
void Station::serve_some() noexcept {
  bool more = false;
  do {
    while (TileRecord* const record = take_one(more)) {
      if (more && at_once_ != unlimited) call();
      work_.take(*record, false);
      if (at_once_ == unlimited) return;  // There is a call for each.
    }
  } while (at_once_ != unlimited && !leave());
}

/// True once the consumer is no longer counted; false if it has to look again.
bool Station::leave() noexcept {
  std::uint32_t seen = serving_.load(std::memory_order_relaxed);
  for (;;) {
    bool const again = (seen & look_again) != 0;
    if (serving_.compare_exchange_weak(seen, again ? seen & ~look_again : seen - 1, std::memory_order_acq_rel)) {
      return !again;
    }
  }
}

TileRecord* Station::take_one(bool& more) noexcept {
  std::scoped_lock const lock(taken_mutex_);
  if (taken_ == nullptr) taken_ = arrivals_.take();
  TileRecord* const record = taken_;
  if (record != nullptr) taken_ = record->next;
  more = taken_ != nullptr;
  return record;
}

}  // namespace penstock
