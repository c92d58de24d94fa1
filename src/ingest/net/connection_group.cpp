// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/connection_group.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <sys/ioctl.h>
#include <sys/socket.h>

namespace penstock {
namespace {

constexpr int no_socket = -1;

/// The size of its receive buffer as the kernel counts it, including its overhead per packet.
std::size_t receive_buffer(int socket) noexcept {
  int room = 0;
  socklen_t bytes = sizeof room;
  getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &room, &bytes);
  return static_cast<std::size_t>(room);
}

/// Nothing is read while all tiles are on loan; that is not the peer's silence.
bool has_unread(int socket) noexcept {
  int bytes = 0;
  return ioctl(socket, FIONREAD, &bytes) == 0 && bytes > 0;
}

}  // namespace

ConnectionGroup::ConnectionGroup(Ending const& ending) {
  set_.add(ending.descriptor(), EPOLLIN, nullptr);
}

void ConnectionGroup::adopt(std::unique_ptr<Pollable> socket) {
  std::scoped_lock const lock(mutex_);
  sockets_.push_back(std::move(socket));
  Pollable& one = *sockets_.back();
  one.place_ = sockets_.size() - 1;
  try {
    set_.add(one.descriptor(), EPOLLIN, &one);
  } catch (...) {
    sockets_.pop_back();
    throw;
  }
}

std::chrono::microseconds ConnectionGroup::nap() noexcept {
  naps_now_ = true;
  return naps_.length();
}

bool ConnectionGroup::receive(Contents& contents) {
  bool const napped = std::exchange(naps_now_, false);
  // Data of the connection that had most.
  std::size_t most = 0;
  int busiest = no_socket;
  if (at_ == ready_.size()) {
    ready_ = set_.wait(events_, std::chrono::milliseconds(0));
    at_ = 0;
  }
  bool some = false;
  while (at_ < ready_.size() && !contents.full) {
    auto* const socket = static_cast<Pollable*>(ready_[at_].data.ptr);
    std::size_t const before = contents.bytes;
    bool const stays = socket == nullptr || socket->ready(contents);
    if (napped && stays && contents.bytes - before > most) {
      most = contents.bytes - before;
      busiest = socket->descriptor();
    }
    some |= socket != nullptr;
    if (!stays) let_go(*socket);
    if (!stays || !contents.full) ++at_;
  }
  if (crowded_ && crowded_()) give_up_oldest_record();
  // One turn reads no more than most_at_once, so it cannot tell whether a larger buffer fills.
  constexpr std::size_t most_room = 8 * Pollable::most_at_once;
  if (napped && busiest != no_socket && !contents.full) {
    naps_.ended(most, std::min(receive_buffer(busiest), most_room));
  }
  return some;
}

void ConnectionGroup::end() noexcept {
  std::scoped_lock const lock(mutex_);
  for (auto const& socket : sockets_) socket->break_off();
}

void ConnectionGroup::give_up_late(std::optional<Pollable::Clock::time_point> silent,
                                   Pollable::Clock::time_point record) {
  std::scoped_lock const lock(mutex_);
  for (auto const& socket : sockets_) {
    auto const quiet = socket->silent_since(), begun = socket->record_since();
    bool const late = (silent && quiet && *quiet <= *silent) || (begun && *begun <= record);
    if (late && !has_unread(socket->descriptor())) socket->give_up();
  }
}

/// Called with the lock held.
Pollable* ConnectionGroup::longest_silent(Pollable::Clock::time_point before) const {
  Pollable* longest = nullptr;
  for (auto const& socket : sockets_) {
    auto const since = socket->silent_since();
    if (!since || *since > before || has_unread(socket->descriptor())) continue;
    before = *since;
    longest = socket.get();
  }
  return longest;
}

std::optional<Pollable::Clock::time_point> ConnectionGroup::longest_silence(Pollable::Clock::time_point before) {
  std::scoped_lock const lock(mutex_);
  Pollable const* const longest = longest_silent(before);
  return longest != nullptr ? longest->silent_since() : std::nullopt;
}

bool ConnectionGroup::give_up_silent(Pollable::Clock::time_point before) {
  std::scoped_lock const lock(mutex_);
  Pollable* const longest = longest_silent(before);
  if (longest != nullptr) longest->give_up();
  return longest != nullptr;
}

void ConnectionGroup::give_up_oldest_record() {
  std::scoped_lock const lock(mutex_);
  Pollable* oldest = nullptr;
  for (auto const& socket : sockets_) {
    auto const since = socket->record_since();
    if (since && (oldest == nullptr || *since < *oldest->record_since())) oldest = socket.get();
  }
  if (oldest != nullptr) oldest->give_up();
}

void ConnectionGroup::let_go(Pollable& socket) {
  std::scoped_lock const lock(mutex_);
  // Closing is not enough if a forked process has the socket, too.
  set_.remove(socket.descriptor());
  std::size_t const place = socket.place_;
  std::swap(sockets_[place], sockets_.back());
  sockets_[place]->place_ = place;
  sockets_.pop_back();
}

}  // namespace penstock
