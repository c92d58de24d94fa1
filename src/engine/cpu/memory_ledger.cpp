// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/memory_ledger.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <string>

#include <unistd.h>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock::cpu {
namespace {

std::size_t host_memory() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Error no_device_memory(std::size_t asked, std::size_t free, std::size_t limit) {
  return Error(ErrorKind::out_of_device_memory,
               "The CPU device cannot allocate " + size_text(asked) + ": " + size_text(free) + " of its " +
                   size_text(limit) + " are free. Use smaller tiles, fewer lanes or fewer slots in each.");
}

}  // namespace

/// One entry of the ledger, made before it is entered, so that a failure in between leaves nothing behind.
class MemoryLedger::Allocation final : public RegionBackend {
 public:
  Allocation(MemoryLedger& ledger, std::size_t bytes)
      : ledger_(ledger),
        memory_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(alignment), std::nothrow))) {}
  Allocation(Allocation const&) = delete;
  Allocation& operator=(Allocation const&) = delete;
  ~Allocation() override {
    if (!entered_ || !ledger_.process_.is_current()) return;
    std::lock_guard const lock(ledger_.mutex_);
    auto const found = ledger_.allocated_.find(memory_.get());
    ledger_.allocated_bytes_ -= found->second;
    ledger_.allocated_.erase(found);
    if (ledger_.holds_on_) ledger_.held_.push_back(std::move(memory_));
  }
  std::byte* start() const noexcept { return memory_.get(); }
  void enter(std::size_t bytes) noexcept {
    entered_ = true;
    count_as(Kind::device, bytes);
  }

 private:
  bool entered_ = false;
  MemoryLedger& ledger_;
  std::unique_ptr<std::byte, Free> memory_;
};

class MemoryLedger::Pin final : public RegionBackend {
 public:
  Pin(MemoryLedger& ledger, std::byte const* start) : ledger_(ledger), start_(start) {}
  Pin(Pin const&) = delete;
  Pin& operator=(Pin const&) = delete;
  ~Pin() override {
    if (!entered_ || !ledger_.process_.is_current()) return;
    std::lock_guard const lock(ledger_.mutex_);
    auto const found = ledger_.pinned_.find(start_);
    ledger_.pinned_bytes_ -= found->second;
    ledger_.pinned_.erase(found);
    ledger_.placed_.erase(start_);
  }
  void enter(std::size_t bytes) noexcept {
    entered_ = true;
    count_as(Kind::pinned, bytes);
  }

 private:
  bool entered_ = false;
  MemoryLedger& ledger_;
  std::byte const* start_;
};

/// The ledgers of all CPU devices: a GPU's driver, too, knows which memory is whose.
struct MemoryLedger::All {
  std::mutex mutex;  ///< Taken before that of a ledger.
  std::set<MemoryLedger const*> ledgers;
};

/// It is never destroyed: a device may be a static object that was made before the first use of this, and dies after
/// all that was made behind it.
MemoryLedger::All& MemoryLedger::all() {
  static All& all = *new All;
  return all;
}

MemoryLedger::MemoryLedger(std::optional<std::size_t> memory_limit, std::optional<std::size_t> pinned_limit,
                           FaultPoints faults)
    : memory_limit_(memory_limit.value_or(host_memory())), pinned_limit_(pinned_limit), faults_(std::move(faults)) {
  std::lock_guard const lock(all().mutex);
  all().ledgers.insert(this);
}

MemoryLedger::~MemoryLedger() {
  std::lock_guard const lock(all().mutex);
  all().ledgers.erase(this);
}

DeviceMemory MemoryLedger::allocate(std::size_t bytes) {
  bool const struck = faults_.strikes(Fault::fail_allocation);
  if (bytes == 0) return {};
  std::lock_guard const lock(mutex_);
  std::size_t const free = memory_limit_ - allocated_bytes_;
  if (struck || bytes > free) throw no_device_memory(bytes, free, memory_limit_);
  auto owned = std::make_unique<Allocation>(*this, bytes);
  if (owned->start() == nullptr) throw no_device_memory(bytes, free, memory_limit_);
  allocated_.emplace(owned->start(), bytes);
  allocated_bytes_ += bytes;
  owned->enter(bytes);
  std::span const memory(owned->start(), bytes);
  return {memory, std::move(owned)};
}

Pinned MemoryLedger::pin(std::span<std::byte> host) {
  bool const struck = faults_.strikes(Fault::fail_pin);
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (host.empty() || reinterpret_cast<std::uintptr_t>(host.data()) % page != 0 || host.size() % page != 0) {
    throw Error(ErrorKind::bad_argument, "Only whole pages can be pinned: start and size must be multiples of " +
                                             size_text(page) + ", and the size not 0.");
  }
  std::lock_guard const lock(mutex_);
  auto const behind = pinned_.lower_bound(host.data());
  bool const runs_into_next = behind != pinned_.end() && std::less<>()(behind->first, host.data() + host.size());
  bool const starts_in_previous =
      behind != pinned_.begin() && std::less<>()(host.data(), std::prev(behind)->first + std::prev(behind)->second);
  if (runs_into_next || starts_in_previous) {
    throw Error(ErrorKind::bad_argument, "Part of this memory is pinned already: pin each page once, and keep it so.");
  }
  if (struck || (pinned_limit_ && host.size() > *pinned_limit_ - pinned_bytes_)) {
    std::string const left =
        pinned_limit_ ? size_text(*pinned_limit_ - pinned_bytes_) + " of " + size_text(*pinned_limit_) + " are left"
                      : "the host refused";
    throw Error(ErrorKind::out_of_pinned_memory, "The CPU device cannot pin " + size_text(host.size()) + ": " + left +
                                                     ". Raise its pinned_bytes, or use fewer or smaller tiles.");
  }
  auto owned = std::make_unique<Pin>(*this, host.data());
  pinned_.emplace_hint(behind, host.data(), host.size());
  pinned_bytes_ += host.size();
  owned->enter(host.size());
  return Pinned(std::move(owned));
}

void MemoryLedger::expect_device_memory(std::span<std::byte const> bytes) const {
  if (owns(bytes)) return;
  throw Error(ErrorKind::bad_argument,
              "The device side of a copy must lie inside memory that this device allocated and that is still owned.");
}

bool MemoryLedger::owns(std::span<std::byte const> bytes) const {
  std::lock_guard const lock(mutex_);
  return lies_in_one(allocated_, bytes);
}

void MemoryLedger::expect_memory_of_devices(std::span<std::byte const> one, std::span<std::byte const> other) const {
  std::lock_guard const lock(all().mutex);
  auto const of_any = [](std::span<std::byte const> bytes) {
    return std::ranges::any_of(all().ledgers, [&](MemoryLedger const* ledger) { return ledger->owns(bytes); });
  };
  if ((owns(one) || owns(other)) && of_any(one) && of_any(other)) return;
  throw Error(ErrorKind::bad_argument,
              "A copy from device to device is between memory that this device allocated and memory that it or another "
              "device of its kind allocated, and that is still owned: for memory of the host use upload or download.");
}

bool MemoryLedger::is_pinned(std::span<std::byte const> bytes) const {
  std::lock_guard const lock(mutex_);
  return lies_in_one(pinned_, bytes);
}

void MemoryLedger::place(std::span<std::byte const> host, int node) {
  std::lock_guard const lock(mutex_);
  if (host.empty() || !lies_in_one(pinned_, host)) {
    throw Error(ErrorKind::bad_argument, "Only memory that is pinned with this device has a node: pin it first.");
  }
  placed_[std::prev(pinned_.upper_bound(host.data()))->first] = node;
}

std::optional<int> MemoryLedger::place_of(std::span<std::byte const> bytes) const {
  std::lock_guard const lock(mutex_);
  if (placed_.empty() || bytes.empty() || !lies_in_one(pinned_, bytes)) return std::nullopt;
  auto const found = placed_.find(std::prev(pinned_.upper_bound(bytes.data()))->first);
  return found == placed_.end() ? std::nullopt : std::optional(found->second);
}

bool MemoryLedger::lies_in_one(Regions const& regions, std::span<std::byte const> bytes) {
  if (bytes.empty()) return true;
  auto const behind = regions.upper_bound(bytes.data());
  if (behind == regions.begin()) return false;
  auto const& [start, size] = *std::prev(behind);
  auto const offset = static_cast<std::size_t>(bytes.data() - start);
  return offset <= size && bytes.size() <= size - offset;
}

void MemoryLedger::hold_on() {
  std::lock_guard const lock(mutex_);
  holds_on_ = true;
  held_.reserve(allocated_.size());  // Nothing is allocated then when memory is freed.
}

void MemoryLedger::let_go() {
  std::lock_guard const lock(mutex_);
  held_.clear();
}

void MemoryLedger::Free::operator()(std::byte* start) const noexcept {
  ::operator delete(start, std::align_val_t(alignment));
}

std::size_t MemoryLedger::allocations() const {
  std::lock_guard const lock(mutex_);
  return allocated_.size();
}
std::size_t MemoryLedger::allocated_bytes() const {
  std::lock_guard const lock(mutex_);
  return allocated_bytes_;
}
std::size_t MemoryLedger::pins() const {
  std::lock_guard const lock(mutex_);
  return pinned_.size();
}
std::size_t MemoryLedger::pinned_bytes() const {
  std::lock_guard const lock(mutex_);
  return pinned_bytes_;
}

}  // namespace penstock::cpu
