// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "anyprogram/watched/log.hpp"

namespace penstock::cli {

/// Writes logs call by call, as the library in a watched program would. Each call takes 10 ns, and 10 ns lie between
/// two calls, of whatever thread.
class LogBuilder {
 public:
  static constexpr std::uint64_t legacy = watch_log::legacy_stream;
  static constexpr std::uint64_t own = watch_log::per_thread_stream;

  /// The thread of the calls that follow.
  LogBuilder& thread(std::uint32_t number);
  LogBuilder& stream(std::uint64_t handle, bool blocking = true);
  LogBuilder& copy(std::uint64_t stream, std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  /// One that waits, with the kind of copy that CUPTI would tell.
  LogBuilder& waiting_copy(std::uint8_t way, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                           std::uint64_t stream = legacy);
  LogBuilder& fill(std::uint64_t stream, std::uint64_t to, std::uint64_t bytes);
  LogBuilder& launch(std::uint64_t stream);
  static constexpr std::uint64_t first_node = 0x10;
  /// An executable graph with a node that copies.
  LogBuilder& graph(std::uint64_t executable, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                    std::uint64_t node = first_node);
  /// Gives that graph the nodes of another one, with a node of that number that copies.
  LogBuilder& graph_update(std::uint64_t executable, std::uint64_t node, std::uint64_t to, std::uint64_t from,
                           std::uint64_t bytes);
  /// A node of a graph copies other bytes from now on, or others that are not known.
  LogBuilder& node_update(std::uint64_t executable, std::uint64_t node, std::uint64_t to, std::uint64_t from,
                          std::uint64_t bytes);
  LogBuilder& node_unknown(std::uint64_t executable, std::uint64_t node);
  LogBuilder& graph_launch(std::uint64_t stream, std::uint64_t executable);
  LogBuilder& record(std::uint64_t stream, std::uint64_t event);
  LogBuilder& wait(std::uint64_t stream, std::uint64_t event);
  LogBuilder& call(WatchCall what, std::uint64_t stream = 0, std::uint64_t first = 0, std::uint64_t bytes = 0,
                   std::uint8_t flags = 0);
  /// The call before names its stream by its handle.
  LogBuilder& by_handle();
  /// The call before took until so many nanoseconds behind the begin of the log, if that is not over.
  LogBuilder& until(std::uint64_t nanoseconds);
  /// Adds what the device did for the call before: from so many nanoseconds behind the begin of the log to so many.
  LogBuilder& did(WatchKind kind, std::uint64_t begin, std::uint64_t end, std::uint8_t way = 0, unsigned from = 0,
                  unsigned to = 0, std::uint64_t device_stream = 7);

  /// A kernel's name.
  LogBuilder& name(std::uint32_t number, std::string_view text);

  WatchLog log() const;
  /// Returns the log as the library writes it, in a file.
  std::vector<std::byte> bytes() const;

 private:
  void node(WatchKind kind, std::uint64_t executable, std::uint64_t node, std::uint8_t how, std::uint64_t to = 0,
            std::uint64_t from = 0, std::uint64_t bytes = 0);

  std::uint32_t thread_ = 1;
  std::uint64_t now_ = began;
  std::vector<WatchRecord> records_;

 public:
  static constexpr std::uint64_t began = 1'000'000;
};

}  // namespace penstock::cli
