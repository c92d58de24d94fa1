// SPDX-License-Identifier: Apache-2.0
#include "penstock/net/connection_group.hpp"

#include <utility>

namespace penstock {

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

bool ConnectionGroup::receive(Contents& contents) {
  if (at_ == ready_.size()) {
    ready_ = set_.wait(events_, std::chrono::milliseconds(0));
    at_ = 0;
  }
  bool some = false;
  while (at_ < ready_.size() && !contents.full) {
    auto* const socket = static_cast<Pollable*>(ready_[at_].data.ptr);
    bool const stays = socket == nullptr || socket->ready(contents);
    some |= socket != nullptr;
    if (!stays) let_go(*socket);
    if (!stays || !contents.full) ++at_;
  }
  return some;
}

void ConnectionGroup::end() noexcept {
  std::scoped_lock const lock(mutex_);
  for (auto const& socket : sockets_) socket->break_off();
}

void ConnectionGroup::let_go(Pollable& socket) {
  std::scoped_lock const lock(mutex_);
  // Closing is not enough, if a process that was forked has it, too.
  set_.remove(socket.descriptor());
  std::size_t const place = socket.place_;
  std::swap(sockets_[place], sockets_.back());
  sockets_[place]->place_ = place;
  sockets_.pop_back();
}

}  // namespace penstock
