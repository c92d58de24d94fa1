// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "anyprogram/watched/log.hpp"

namespace penstock::cli {

/// The last operation of each stream that is known to be done, by the number of the stream.
using VectorClock = std::vector<std::uint32_t>;

/// Rules of an Order.
struct OrderRules {
  /// True: calls that name no stream mean the legacy default stream, which waits for all blocking streams of its
  /// context, and they for it. False: they mean a default stream of their thread. Either way calls that name the legacy
  /// stream by its handle stay in it.
  bool fence = true;
  /// True: the waits of one thread are known to all threads from then on. False: only that thread knows them, and may
  /// have notified the others in ways that no log shows.
  bool threads_tell = true;
};

/// A place in the order of one stream: its number, and the number of the operation.
struct OrderPlace {
  std::size_t stream = 0;
  std::uint32_t operation = 0;
};

/// Tells which operations of a log are ordered, by happens-before: streams are FIFO, a stream waits for an event as it
/// was recorded last, a call comes after what its thread has waited for.
///
/// Shape:   calls are taken by their begin.
/// Source:  Fidge, Timestamps in message-passing systems that preserve the partial ordering, 1988; for the fence
///          "Stream synchronization behavior" of the CUDA Driver API.
class Order {
 public:
  explicit Order(OrderRules rules) : rules_(rules) {}

  /// Takes a call that works in a stream, waits or makes streams. `waits` is true if it returns once its own work is
  /// done.
  ///
  /// Returns: the place of its work, if it has such.
  OrderPlace take(WatchRecord const& call, bool waits);
  /// True if the work at that place is done before that of the call taken last begins.
  bool before_last(OrderPlace place) const;

 private:
  struct Stream {
    std::uint32_t operations = 0;
    VectorClock clock = {};
    std::uint64_t version = 1;  ///< Version of clock and operations.
    bool blocking = false;
    std::uint16_t context = 0;
    std::unordered_map<std::size_t, std::uint64_t> seen = {};  ///< Versions of other streams, as they were joined.
    std::pair<std::uint32_t, std::uint64_t> seen_host = {};    ///< A thread, and the version of what it knew.
  };
  struct Known {
    VectorClock clock = {};
    std::uint64_t version = 1;
  };
  struct Pending {
    std::uint64_t end = 0;
    std::uint32_t thread = 0;
    VectorClock clock = {};
  };
  enum class Sort : std::uint8_t { legacy, own, named };
  using Key = std::tuple<Sort, std::uint64_t, std::uint16_t>;

  std::size_t stream_of(WatchRecord const& call);
  std::size_t add_stream(Key const& key, bool blocking, std::uint16_t context);
  OrderPlace operation(std::size_t stream, std::uint32_t thread);
  bool in_legacy(WatchRecord const& call) const;
  void pass_fence(std::size_t stream);
  void join_stream(std::size_t to, std::size_t from);
  VectorClock done_by(std::size_t stream) const;
  VectorClock all_done() const;
  void wait_until(WatchRecord const& call, VectorClock clock);
  void settle(std::uint64_t time);
  Known& host(std::uint32_t thread) { return hosts_[rules_.threads_tell ? 0 : thread]; }

  OrderRules const rules_;
  std::vector<Stream> streams_;
  std::map<Key, std::size_t> numbers_;
  std::unordered_map<std::uint64_t, VectorClock> events_;
  std::unordered_map<std::uint32_t, Known> hosts_;
  std::vector<Pending> pending_;  ///< A heap; the earliest end comes first.
  std::size_t last_ = 0;
};

}  // namespace penstock::cli
