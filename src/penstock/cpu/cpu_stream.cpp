// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/cpu_stream.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "penstock/cpu/cpu_event.hpp"

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

void expect_room(std::size_t to, std::size_t from) {
  if (to >= from) return;
  throw Error(ErrorKind::bad_argument, "A copy of " + std::to_string(from) + " bytes does not fit into " +
                                           std::to_string(to) + ": make the target as large as the source.");
}

Error refusal(char const* what) {
  return Error(ErrorKind::device_refused, std::string("The CPU device refused ") + what + " (injected).");
}

void refuse_if(bool struck, char const* what) {
  if (struck) throw refusal(what);
}

Delivery next_delivery(Faults& faults) {
  auto delivery = Delivery::once;
  // Each is asked, so that each counts every callback.
  if (faults.strikes(Fault::late_callback)) delivery = Delivery::late;
  if (faults.strikes(Fault::double_callback)) delivery = Delivery::twice;
  if (faults.strikes(Fault::lost_callback)) delivery = Delivery::never;
  if (faults.strikes(Fault::stray_callback)) delivery = Delivery::stray;
  return delivery;
}

}  // namespace

CpuStream::CpuStream(Scheduler& scheduler, MemoryLedger const& memory, Faults& faults, Refusals& refusals,
                     Standing standing, int priority)
    : scheduler_(scheduler),
      memory_(memory),
      faults_(faults),
      refusals_(refusals),
      state_(standing, std::clamp(priority, greatest_priority, least_priority)) {
  scheduler_.expect_healthy();
  scheduler_.add(state_);
}

CpuStream::~CpuStream() {
  scheduler_.remove(state_);
}

void CpuStream::upload(std::span<std::byte> to, std::span<std::byte const> from) {
  expect_room(to.size(), from.size());
  memory_.expect_device_memory(to.first(from.size()));
  refuse_if(faults_.strikes(Fault::refuse_upload), "an upload");
  bool const breaks = faults_.strikes(Fault::break_upload);
  scheduler_.enqueue(state_, {.kind = Kind::upload, .to = to, .from = from, .breaks = breaks});
}

void CpuStream::download(std::span<std::byte> to, std::span<std::byte const> from) {
  expect_room(to.size(), from.size());
  memory_.expect_device_memory(from);
  refuse_if(faults_.strikes(Fault::refuse_download), "a download");
  bool const breaks = faults_.strikes(Fault::break_download);
  scheduler_.enqueue(state_, {.kind = Kind::download, .to = to, .from = from, .breaks = breaks});
}

void CpuStream::launch(std::uint32_t blocks, CpuKernel kernel) {
  if (blocks == 0 || !kernel) {
    throw Error(ErrorKind::bad_argument, "A launch needs a kernel and at least one block: skip it when there is none.");
  }
  refuse_if(faults_.strikes(Fault::refuse_launch), "a launch");
  if (faults_.strikes(Fault::drop_launch)) return refusals_.leave(refusal("a launch that nobody checked"));
  bool const breaks = faults_.strikes(Fault::break_kernel);
  scheduler_.enqueue(state_, {.kind = Kind::kernel, .kernel = std::move(kernel), .blocks = blocks, .breaks = breaks});
}

void CpuStream::record(EventBackend& event) {
  scheduler_.enqueue(state_, {.kind = Kind::record, .event = &CpuEvent::of(event, scheduler_)});
}

void CpuStream::wait(EventBackend& event) {
  scheduler_.enqueue(state_, {.kind = Kind::wait, .event = &CpuEvent::of(event, scheduler_)});
}

void CpuStream::call(StreamCallback& callback) {
  scheduler_.enqueue(state_, {.kind = Kind::callback, .callback = &callback, .delivery = next_delivery(faults_)});
}

void CpuStream::launch_host_function(StreamCallback& callback) {
  scheduler_.enqueue(
      state_,
      {.kind = Kind::callback, .callback = &callback, .delivery = next_delivery(faults_), .knows_status = false});
}

void CpuStream::write(FlagBackend& flag, std::uint64_t number) {
  bool const lost = faults_.strikes(Fault::lost_write);
  if (faults_.strikes(Fault::early_write)) {
    std::atomic_ref<std::uint64_t>(flag.word()).store(number, std::memory_order_release);
  }
  scheduler_.enqueue(state_, {.kind = Kind::write, .word = lost ? nullptr : &flag.word(), .number = number});
}

bool CpuStream::idle() {
  return scheduler_.idle(state_);
}

void CpuStream::synchronize() {
  scheduler_.synchronize(state_);
}

CpuStream& PerThreadStream::mine() {
  std::lock_guard const lock(mutex_);
  auto const self = std::this_thread::get_id();
  auto found = streams_.find(self);
  if (found == streams_.end()) found = streams_.emplace(self, make_()).first;
  return *found->second;
}

std::size_t PerThreadStream::streams() const {
  std::lock_guard const lock(mutex_);
  return streams_.size();
}

}  // namespace penstock::cpu
