// SPDX-License-Identifier: Apache-2.0
#include "penstock/device/memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace penstock {
namespace {

struct Count {
  std::atomic<std::uint64_t> held{0};
  std::atomic<std::uint64_t> peak{0};

  void add(std::uint64_t bytes) noexcept {
    std::uint64_t const now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::uint64_t most = peak.load(std::memory_order_relaxed);
    while (most < now && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
};

Count& count_of(RegionBackend::Kind kind) noexcept {
  static std::array<Count, 2> counts;
  return counts[static_cast<std::size_t>(kind)];
}

template <class Value>
MemoryUse use(Value value) noexcept {
  return {.device = value(count_of(RegionBackend::Kind::device)),
          .pinned = value(count_of(RegionBackend::Kind::pinned))};
}

}  // namespace

void RegionBackend::count_as(Kind kind, std::size_t bytes) noexcept {
  kind_ = kind;
  bytes_ = bytes;
  count_of(kind).add(bytes);
}

RegionBackend::~RegionBackend() {
  count_of(kind_).held.fetch_sub(bytes_, std::memory_order_relaxed);
}

MemoryUse memory_held() noexcept {
  return use([](Count const& count) { return count.held.load(std::memory_order_relaxed); });
}

MemoryUse memory_peaks() noexcept {
  return use([](Count const& count) { return count.peak.load(std::memory_order_relaxed); });
}

void forget_memory_peaks() noexcept {
  for (auto const kind : {RegionBackend::Kind::device, RegionBackend::Kind::pinned}) {
    Count& count = count_of(kind);
    count.peak.store(count.held.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

}  // namespace penstock
