// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/machine/ending.hpp"
#include "engine/machine/poll_set.hpp"
#include "ingest/net/contents.hpp"
#include "ingest/net/naps.hpp"
#include "ingest/net/receivers.hpp"

namespace penstock {

/// A socket of a group.
///
/// Threads: the one that has the group.
class Pollable {
 public:
  /// Maximum number of bytes that one socket puts into a tile before others that are ready have their turn.
  static constexpr std::size_t most_at_once = std::size_t{256} << 10;

  using Clock = std::chrono::steady_clock;

  virtual ~Pollable() = default;
  virtual int descriptor() const noexcept = 0;
  /// Reads what is there. If the tile has no room for it, the contents are `full`, and this socket is the first of the
  /// next tile. Returns false if it is over; the group then releases it.
  ///
  /// Blocks: never.
  virtual bool ready(Contents& contents) = 0;
  /// Called when the input ends before this does.
  virtual void break_off() noexcept {}
  /// Times since when a peer has been silent, and since when one of its records has been incomplete; nothing if that
  /// does not apply.
  ///
  /// Threads: any.
  virtual std::optional<Clock::time_point> silent_since() const noexcept { return std::nullopt; }
  virtual std::optional<Clock::time_point> record_since() const noexcept { return std::nullopt; }
  /// Gives up a peer: it will be ready at once, and over.
  ///
  /// Threads: any.
  virtual void give_up() noexcept {}

 private:
  friend class ConnectionGroup;
  std::size_t place_ = 0;
};

/// Sockets whose bytes share tiles, with alternating turns.
class ConnectionGroup final : public Receiver {
 public:
  /// Throws: Error of kind system, if the process has no descriptor left.
  explicit ConnectionGroup(Ending const& ending);
  ConnectionGroup(ConnectionGroup const&) = delete;
  ConnectionGroup& operator=(ConnectionGroup const&) = delete;

  /// Threads: any.
  /// Throws:  Error of kind system, if the system refuses; the socket is closed.
  void adopt(std::unique_ptr<Pollable> socket);
  /// Gives each socket that is ready one turn.
  bool receive(Contents& contents) override;
  int descriptor() const noexcept override { return set_.descriptor(); }
  std::chrono::microseconds nap() noexcept override;
  void end() noexcept override;
  PollSet& set() noexcept { return set_; }
  /// Sets a function that is called after each turn of the sockets: it returns true if the peer whose record began
  /// first is to be given up.
  ///
  /// Shape: before the first turn.
  void bound_by(std::function<bool()> crowded) { crowded_ = std::move(crowded); }

  /// Gives up peers that have been silent since `silent`, and those whose record has been incomplete since `record`,
  /// unless data of them waits to be read.
  ///
  /// Threads: any.
  void give_up_late(std::optional<Pollable::Clock::time_point> silent, Pollable::Clock::time_point record);
  /// Start of the longest silence of a peer, if it is before `before`.
  ///
  /// Threads: any.
  std::optional<Pollable::Clock::time_point> longest_silence(Pollable::Clock::time_point before);
  /// Gives up the peer with the longest silence; false if there is none.
  ///
  /// Threads: any.
  bool give_up_silent(Pollable::Clock::time_point before);

 private:
  void let_go(Pollable& socket);
  void give_up_oldest_record();
  Pollable* longest_silent(Pollable::Clock::time_point before) const;

  PollSet set_;
  std::array<epoll_event, 128> events_{};
  std::span<epoll_event> ready_ = {};  ///< Sockets that were ready at the last look.
  std::size_t at_ = 0;                 ///< Number of these that have had their turn.
  Naps naps_;
  bool naps_now_ = false;
  std::function<bool()> crowded_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Pollable>> sockets_;
};

}  // namespace penstock
