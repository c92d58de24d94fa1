// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/busy.hpp"

#include <atomic>
#include <functional>

#include "engine/core/event_count.hpp"
#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/clock.hpp"

namespace penstock {
namespace {

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

/// Replaces the value by `candidate` if `better(candidate, value)`.
///
/// Relaxed: the thread that reads the stamp has waited for the kernel.
template <class Better>
void improve(std::uint64_t& value, std::uint64_t candidate, Better better) {
  std::atomic_ref const shared(value);
  std::uint64_t seen = shared.load(std::memory_order_relaxed);
  while (better(candidate, seen) && !shared.compare_exchange_weak(seen, candidate, std::memory_order_relaxed)) {
  }
}

}  // namespace

void busy(std::chrono::nanoseconds duration, std::uint32_t blocks, Stamp* stamp, StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) return busy_cuda(duration, blocks, stamp, stream.native());
  if (stream.modelled()) {
    KernelCost const cost{
        .time = duration, .blocks = blocks, .block_threads = 1024, .began = &stamp->start, .ended = &stamp->end};
    return stream.launch(
        1, [](std::uint32_t) {}, cost);
  }
  stream.launch(blocks, [=](std::uint32_t) {
    improve(stamp->start, now(), std::less<>());
    EventCount nobody_notifies;
    nobody_notifies.await([] { return false; }, std::chrono::nanoseconds(0), duration);
    improve(stamp->end, now(), std::greater<>());
  });
}

void busy_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) busy_prepare_cuda();
}

}  // namespace penstock
