// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/per_thread_stream.hpp"

#include <new>

namespace penstock::cpu {

CpuStream& PerThreadStream::mine() {
  std::lock_guard const lock(mutex_);
  auto const self = std::this_thread::get_id();
  auto found = streams_.find(self);
  if (found == streams_.end()) found = streams_.emplace(self, make_()).first;
  return *found->second;
}

bool PerThreadStream::idle() {
  CpuStream* stream = nullptr;
  try {
    stream = &mine();
  } catch (std::bad_alloc const&) {
    return true;  // An existing stream is found without memory.
  }
  return stream->idle();
}

void PerThreadStream::drop_calls() {
  CpuStream* stream = nullptr;
  {
    std::lock_guard const lock(mutex_);
    if (auto const found = streams_.find(std::this_thread::get_id()); found != streams_.end()) {
      stream = found->second.get();
    }
  }
  if (stream != nullptr) stream->drop_calls();
}

std::size_t PerThreadStream::streams() const {
  std::lock_guard const lock(mutex_);
  return streams_.size();
}

}  // namespace penstock::cpu
