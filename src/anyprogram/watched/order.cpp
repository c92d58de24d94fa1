// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/order.hpp"

#include <algorithm>
#include <utility>

namespace penstock::cli {
namespace {

using namespace watch_log;

/// If a program makes more streams than this, later ones count as earlier ones of the same handle.
constexpr std::size_t most_streams = 4096;

bool join(VectorClock& to, VectorClock const& from) {
  bool changed = false;
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (to[i] >= from[i]) continue;
    to[i] = from[i];
    changed = true;
  }
  return changed;
}

void reach(VectorClock& clock, std::size_t stream, std::uint32_t operation) {
  if (clock.size() <= stream) clock.resize(stream + 1);
  clock[stream] = std::max(clock[stream], operation);
}

}  // namespace

std::size_t Order::add_stream(Key const& key, bool blocking, std::uint16_t context) {
  streams_.push_back({.blocking = blocking, .context = context});
  return numbers_[key] = streams_.size() - 1;
}

bool Order::in_legacy(WatchRecord const& call) const {
  return call.stream == legacy_stream && (rules_.fence || (call.flags & by_handle) != 0);
}

std::size_t Order::stream_of(WatchRecord const& call) {
  Key key{Sort::named, call.stream, 0};
  if (in_legacy(call)) {
    key = {Sort::legacy, 0, call.device};
  } else if (call.stream == legacy_stream || call.stream == per_thread_stream) {
    key = {Sort::own, call.thread, call.device};
  }
  auto const found = numbers_.find(key);
  if (found != numbers_.end()) return found->second;
  // The log may not show how a stream was made, and so if it waits for the legacy stream: then it is taken not to.
  return add_stream(key, std::get<0>(key) != Sort::named, call.device);
}

void Order::join_stream(std::size_t to, std::size_t from) {
  Stream& stream = streams_[to];
  std::uint64_t& seen = stream.seen[from];
  if (seen == streams_[from].version) return;
  seen = streams_[from].version;
  join(stream.clock, streams_[from].clock);
  reach(stream.clock, from, streams_[from].operations);
  ++stream.version;
}

void Order::pass_fence(std::size_t stream) {
  if (!streams_[stream].blocking) return;
  std::uint16_t const context = streams_[stream].context;
  auto const legacy = numbers_.find({Sort::legacy, 0, context});
  if (legacy == numbers_.end()) return;
  if (legacy->second != stream) {
    join_stream(stream, legacy->second);
    return;
  }
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (i != stream && streams_[i].blocking && streams_[i].context == context) join_stream(stream, i);
}

OrderPlace Order::operation(std::size_t number, std::uint32_t thread) {
  pass_fence(number);
  Stream& stream = streams_[number];
  Known const& known = host(thread);
  if (std::pair const seen(thread, known.version); stream.seen_host != seen) {
    stream.seen_host = seen;
    join(stream.clock, known.clock);
  }
  ++stream.version;
  return {number, ++stream.operations};
}

VectorClock Order::done_by(std::size_t stream) const {
  VectorClock clock = streams_[stream].clock;
  reach(clock, stream, streams_[stream].operations);
  return clock;
}

VectorClock Order::all_done() const {
  VectorClock clock(streams_.size());
  for (std::size_t i = 0; i < streams_.size(); ++i) clock[i] = streams_[i].operations;
  return clock;
}

void Order::wait_until(WatchRecord const& call, VectorClock clock) {
  pending_.push_back({call.end, call.thread, std::move(clock)});
  std::push_heap(pending_.begin(), pending_.end(),
                 [](auto const& one, auto const& other) { return one.end > other.end; });
}

/// Adds, to what threads know, the waits of calls that have returned by then.
void Order::settle(std::uint64_t time) {
  while (!pending_.empty() && pending_.front().end <= time) {
    std::pop_heap(pending_.begin(), pending_.end(),
                  [](auto const& one, auto const& other) { return one.end > other.end; });
    Known& known = host(pending_.back().thread);
    if (join(known.clock, pending_.back().clock)) ++known.version;
    pending_.pop_back();
  }
}

OrderPlace Order::take(WatchRecord const& call, bool waits) {
  settle(call.begin);
  switch (static_cast<Call>(call.what)) {
    case Call::launch:
    case Call::copy:
    case Call::fill:
    case Call::graph_launch:
    case Call::host_function: {
      last_ = stream_of(call);
      OrderPlace const place = operation(last_, call.thread);
      if (waits) wait_until(call, done_by(last_));
      return place;
    }
    case Call::event_record: {
      std::size_t const stream = stream_of(call);
      operation(stream, call.thread);
      events_[call.first] = done_by(stream);
      break;
    }
    case Call::event_wait: {
      std::size_t const stream = stream_of(call);
      operation(stream, call.thread);
      auto const event = events_.find(call.first);
      if (event != events_.end() && join(streams_[stream].clock, event->second)) ++streams_[stream].version;
      break;
    }
    case Call::event_destroy:
      // Another event may get its handle.
      events_.erase(call.first);
      break;
    case Call::event_sync:
    case Call::event_query:
      if (auto const event = events_.find(call.first); event != events_.end()) wait_until(call, event->second);
      break;
    case Call::stream_sync:
    case Call::stream_query: {
      std::size_t const stream = stream_of(call);
      if (in_legacy(call)) pass_fence(stream);
      wait_until(call, done_by(stream));
      break;
    }
    case Call::device_sync:
      wait_until(call, all_done());
      break;
    case Call::release:
    case Call::unpin:
      // The driver waits for the device if no stream is named.
      if (call.stream == 0) wait_until(call, all_done());
      break;
    case Call::stream_create: {
      Key const key{Sort::named, call.stream, 0};
      bool const blocking = (call.second & non_blocking) == 0;
      if (streams_.size() < most_streams || !numbers_.contains(key)) {
        add_stream(key, blocking, call.device);
      } else {
        streams_[numbers_[key]].blocking = blocking;
      }
      break;
    }
    default:
      break;
  }
  return {};
}

bool Order::before_last(OrderPlace place) const {
  if (place.stream == last_) return true;
  VectorClock const& clock = streams_[last_].clock;
  return place.stream < clock.size() && clock[place.stream] >= place.operation;
}

}  // namespace penstock::cli
