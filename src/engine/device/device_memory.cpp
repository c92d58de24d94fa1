// SPDX-License-Identifier: Apache-2.0
#include "penstock/device_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace penstock {
namespace {

struct Count {
  std::atomic<std::uint64_t> held{0};
  std::atomic<std::uint64_t> peak{0};

  void add(std::uint64_t bytes) noexcept { raise_to(held.fetch_add(bytes, std::memory_order_seq_cst) + bytes); }
  void forget_peak() noexcept {
    peak.store(held.load(std::memory_order_seq_cst), std::memory_order_seq_cst);
    // A thread that added in between may have raised the peak that was then forgotten.
    raise_to(held.load(std::memory_order_seq_cst));
  }

 private:
  void raise_to(std::uint64_t bytes) noexcept {
    std::uint64_t most = peak.load(std::memory_order_seq_cst);
    while (most < bytes && !peak.compare_exchange_weak(most, bytes, std::memory_order_seq_cst)) {
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

void RegionBackend::count_for_ever() noexcept {
  bytes_ = 0;
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
    count_of(kind).forget_peak();
  }
}

}  // namespace penstock
