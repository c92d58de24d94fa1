// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "penstock/collective.hpp"

namespace penstock {

Share::Share(Device& device, std::size_t bytes, bool guarded)
    : bytes_(bytes), memory_(device.allocate(std::max<std::size_t>(bytes, 1))) {
  if (!guarded) return;
  updated_.emplace(device.make_event());
  read_.emplace(device.make_event());
}

void Share::wait_by_asking(StreamRef stream) {
  while (!stream.idle()) std::this_thread::yield();
}

Share::Update::Update(Share& share, StreamRef stream)
    : share_(share), stream_(stream), lock_(share.mutex_, std::defer_lock) {
  if (!share.updated_) return;
  lock_.lock();
  if (share.being_read_) stream.wait(*share.read_);
  share.being_read_ = false;
}

void Share::Update::end() {
  ended_ = true;
  if (!share_.updated_) return;
  try {
    stream_.record(*share_.updated_);
  } catch (...) {
    // The next merge does not know the end of this update; so the update must have ended.
    wait_by_asking(stream_);
    throw;
  }
}

Share::Update::~Update() {
  if (ended_) return;
  try {
    end();
  } catch (...) {
    // The body's exception is being thrown. Work enqueued before it has ended, or the device is lost.
  }
}

}  // namespace penstock
