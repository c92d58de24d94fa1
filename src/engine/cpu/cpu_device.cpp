// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/cpu_device.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <sched.h>

#include "engine/core/host_time.hpp"
#include "engine/core/say.hpp"
#include "engine/core/works_for.hpp"
#include "engine/cpu/cpu_stream.hpp"
#include "engine/cpu/engines.hpp"
#include "engine/cpu/handles.hpp"
#include "engine/cpu/memory_ledger.hpp"
#include "engine/cpu/ordered_memory.hpp"
#include "engine/cpu/per_thread_stream.hpp"
#include "engine/cpu/scheduler.hpp"

namespace penstock::cpu {
namespace {

/// Does not look at cgroups; open_device respects their quotas: this layer knows devices, not machines.
unsigned usable_cpus() {
  cpu_set_t mine;
  // A mask of more CPUs than a cpu_set_t holds is refused; then all CPUs is the better guess.
  if (sched_getaffinity(0, sizeof mine, &mine) == 0) return static_cast<unsigned>(CPU_COUNT(&mine));
  return std::max(1u, std::thread::hardware_concurrency());
}

CpuOptions completed(CpuOptions options) {
  if (options.callback_threads == 0) {
    throw Error(ErrorKind::bad_argument, "A CPU device needs a thread to call back from: set callback_threads to 1.");
  }
  if (options.compute_threads == 0) options.compute_threads = usable_cpus();
  return options;
}

}  // namespace

CpuDevice::CpuDevice(CpuOptions options)
    : options_(completed(std::move(options))),
      refusals_(std::make_unique<Refusals>()),
      memory_(std::make_unique<MemoryLedger>(options_.memory_bytes, options_.pinned_bytes, faults())),
      scheduler_(std::make_unique<Scheduler>(options_.time ? options_.time() : nullptr)),
      ordered_(std::make_unique<OrderedMemory>(*scheduler_, *memory_)),
      engines_(std::make_unique<Engines>(*scheduler_, static_cast<Device const*>(this), options_.compute_threads,
                                         options_.callback_threads, options_.observer)),
      legacy_(std::make_unique<CpuStream>(*scheduler_, *engines_, *memory_, *ordered_, faults(), *refusals_,
                                          StreamType::legacy, least_priority)),
      per_thread_(std::make_unique<PerThreadStream>(
          [this] {
            return std::make_unique<CpuStream>(*scheduler_, *engines_, *memory_, *ordered_, faults(), *refusals_,
                                               StreamType::blocking, least_priority);
          },
          options_.time != nullptr)) {}

CpuDevice::~CpuDevice() {
  if (!process_.is_current()) {
    leave_all();
    return;
  }
  if (WorksFor::here(static_cast<Device const*>(this))) {
    say("a CPU device was destroyed by a kernel or callback of its own, which it would wait for: its threads stay. Let "
        "another thread destroy it or exit.");
    leave_all();
    return;
  }
  if (abandoned()) scheduler_->wait_to_the_end();
  kept_->let_go();
  memory_->let_go();
  if (Outstanding const out = outstanding(); out != Outstanding{}) {
    say("a CPU device dies before %zu streams, %zu events, %zu allocations and %zu pinned regions of "
        "its own, and before the end of %zu captures: destroy them first.",
        out.streams, out.events, out.allocations, out.pins, out.captures);
  }
}

/// Leaves in memory what other threads of the device, or of the process that it was copied from, may still use.
void CpuDevice::leave_all() noexcept {
  static_cast<void>(kept_.release());
  static_cast<void>(per_thread_.release());
  static_cast<void>(legacy_.release());
  static_cast<void>(engines_.release());
  static_cast<void>(ordered_.release());
  static_cast<void>(scheduler_.release());
  static_cast<void>(memory_.release());
  static_cast<void>(refusals_.release());
}

DeviceInfo CpuDevice::info() const {
  DeviceInfo info;
  info.kind = DeviceKind::cpu;
  info.ordinal = options_.ordinal;
  info.name = "CPU device";
  ordered_->reclaim();
  info.memory_bytes = memory_->memory_limit();
  info.memory_free = info.memory_bytes - memory_->allocated_bytes();
  info.copy_engines = 2;
  info.compute_units = static_cast<int>(options_.compute_threads);
  info.numa_node = options_.numa_node;
  info.least_priority = least_priority;
  info.greatest_priority = greatest_priority;
  if (TimeKeeper const* const keeper = scheduler_->keeper()) keeper->describe(info);
  return info;
}

void CpuDevice::attach() {
  scheduler_->expect_healthy();
}

StreamRef CpuDevice::per_thread_default_stream() {
  return StreamRef(*per_thread_);
}

StreamRef CpuDevice::legacy_default_stream() {
  return StreamRef(*legacy_);
}

Stream CpuDevice::make_stream(StreamOptions options) {
  HostTime::pay();  // Here and below: a program that reads the clock next has its preparations behind it.
  auto const type = options.blocking ? StreamType::blocking : StreamType::non_blocking;
  return Stream(std::make_unique<CpuStream>(*scheduler_, *engines_, *memory_, *ordered_, faults(), *refusals_, type,
                                            options.priority));
}

Event CpuDevice::make_event(EventOptions options) {
  HostTime::pay();
  if (options.interprocess && options.timing) {
    throw Error(ErrorKind::bad_argument,
                "An event of several processes keeps no time: leave out timing or interprocess.");
  }
  auto shared = options.interprocess ? SharedEvent::make() : nullptr;
  return Event(std::make_unique<CpuEvent>(*scheduler_, faults(), options, options_.clock_drift, std::move(shared)));
}

Event CpuDevice::open_event(EventHandle const& handle) {
  scheduler_->expect_healthy();
  return Event(std::make_unique<CpuEvent>(*scheduler_, faults(), EventOptions{.interprocess = true},
                                          options_.clock_drift, SharedEvent::open(handle)));
}

Flag CpuDevice::make_flag() {
  scheduler_->expect_healthy();
  return Flag(std::make_unique<CpuFlag>());
}

DeviceMemory CpuDevice::allocate(std::size_t bytes) {
  scheduler_->expect_healthy();
  return ordered_->allocate(bytes);
}

Pinned CpuDevice::pin(std::span<std::byte> host) {
  HostTime::pay();
  scheduler_->expect_healthy();
  return memory_->pin(host);
}

void CpuDevice::place(std::span<std::byte const> host, int node) {
  unsigned const nodes = info().host_nodes;
  if (nodes == 0) return Device::place(host, node);
  if (node < 0 || static_cast<unsigned>(node) >= nodes) {
    throw Error(ErrorKind::bad_argument, "The modelled machine has NUMA nodes 0 to " + std::to_string(nodes - 1) +
                                             ", and no node " + std::to_string(node) + ".");
  }
  memory_->place(host, node);
}

std::optional<std::span<std::byte>> CpuDevice::mapped(std::span<std::byte> host) {
  scheduler_->expect_healthy();
  if (!memory_->is_pinned(host)) return std::nullopt;
  return host;
}

void CpuDevice::synchronize() {
  scheduler_->synchronize();
}

std::optional<Error> CpuDevice::take_refusal() {
  return refusals_->take();
}

std::optional<Error> CpuDevice::lost() {
  return scheduler_->lost();
}

void CpuDevice::abandon(Error const& why) {
  memory_->hold_on();
  scheduler_->abandon(why);
}

bool CpuDevice::abandoned() const noexcept {
  return scheduler_->abandoned();
}

std::vector<std::string> CpuDevice::remarks() {
  return scheduler_->keeper() != nullptr ? scheduler_->remarks(info().name) : std::vector<std::string>();
}

Outstanding CpuDevice::outstanding() const {
  auto const owned = ordered_->owned();
  return {.streams = scheduler_->streams() - per_thread_->streams() - 1,
          .events = scheduler_->events(),
          .captures = scheduler_->captures(),
          .allocations = owned.allocations,
          .allocated_bytes = owned.bytes,
          .pins = memory_->pins(),
          .pinned_bytes = memory_->pinned_bytes()};
}

std::size_t CpuDevice::late_callbacks() const {
  return scheduler_->late();
}

void CpuDevice::deliver_late_callbacks() {
  scheduler_->deliver_late();
}

}  // namespace penstock::cpu
