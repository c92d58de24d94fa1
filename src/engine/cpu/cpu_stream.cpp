// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/cpu_stream.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/cpu/waits_abroad.hpp"

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

void expect_room(std::size_t to, std::size_t from) {
  if (to >= from) return;
  throw Error(ErrorKind::bad_argument, "A copy of " + std::to_string(from) + " bytes does not fit into " +
                                           std::to_string(to) + ": make the target as large as the source.");
}

Delivery next_delivery(FaultPoints const& faults) {
  auto delivery = Delivery::once;
  // Each is asked, so that each counts every callback.
  if (faults.strikes(Fault::late_callback)) delivery = Delivery::late;
  if (faults.strikes(Fault::early_callback)) delivery = Delivery::early;
  if (faults.strikes(Fault::double_callback)) delivery = Delivery::twice;
  if (faults.strikes(Fault::lost_callback)) delivery = Delivery::never;
  if (faults.strikes(Fault::stray_callback)) delivery = Delivery::stray;
  return delivery;
}

/// CUDA's switch for looking for a kernel that fails. The variable is read here, as the driver reads it at its start.
bool launches_block() noexcept {
  char const* const wish = std::getenv("CUDA_LAUNCH_BLOCKING");
  return wish != nullptr && std::string_view(wish) == "1";
}

/// The status that a callback will be told falsely, if any.
std::optional<StreamStatus> next_lie(FaultPoints const& faults) {
  std::optional<StreamStatus> lie;
  if (faults.strikes(Fault::false_alarm)) lie = {.ok = false, .sticky = false, .code = false_fault};
  if (faults.strikes(Fault::false_loss)) lie = {.ok = false, .sticky = true, .code = false_fault};
  return lie;
}

}  // namespace

CpuStream::CpuStream(Scheduler& scheduler, Engines& engines, MemoryLedger const& memory, OrderedMemory& ordered,
                     FaultPoints faults, Refusals& refusals, StreamType type, int priority)
    : scheduler_(scheduler),
      engines_(engines),
      memory_(memory),
      ordered_(ordered),
      faults_(std::move(faults)),
      refusals_(refusals),
      launches_block_(launches_block()),
      state_(type, std::clamp(priority, greatest_priority, least_priority)) {
  scheduler_.expect_healthy();
  scheduler_.add(state_);
}

CpuStream::~CpuStream() {
  if (!scheduler_.process.is_current()) return;
  scheduler_.remove(state_);
  ordered_.forget(state_);
}

void CpuStream::upload(std::span<std::byte> to, std::span<std::byte const> from) {
  TimedCall const call(scheduler_.keeper(), DriverCall::copy);
  expect_room(to.size(), from.size());
  memory_.expect_device_memory(to.first(from.size()));
  faults_.refuse(Fault::refuse_upload, "an upload");
  bool const breaks = faults_.strikes(Fault::break_upload);
  put_copy({.kind = Kind::upload, .to = to, .from = from, .breaks = breaks}, from);
}

void CpuStream::download(std::span<std::byte> to, std::span<std::byte const> from) {
  TimedCall const call(scheduler_.keeper(), DriverCall::copy);
  expect_room(to.size(), from.size());
  memory_.expect_device_memory(from);
  faults_.refuse(Fault::refuse_download, "a download");
  bool const breaks = faults_.strikes(Fault::break_download);
  put_copy({.kind = Kind::download, .to = to, .from = from, .breaks = breaks}, to.first(from.size()));
}

void CpuStream::copy(std::span<std::byte> to, std::span<std::byte const> from) {
  TimedCall const call(scheduler_.keeper(), DriverCall::copy);
  expect_room(to.size(), from.size());
  std::span<std::byte> const there = to.first(from.size());
  bool const peer = !memory_.owns(there) || !memory_.owns(from);
  if (peer) memory_.expect_memory_of_devices(there, from);
  faults_.refuse(Fault::refuse_upload, "a copy from device to device");
  bool const breaks = faults_.strikes(Fault::break_upload);
  put({.kind = Kind::copy, .to = to, .from = from, .peer = peer, .breaks = breaks});
}

DeviceMemory CpuStream::allocate(std::size_t bytes) {
  // Its cost was not measured: it is an entry in the order of a stream, as a record is.
  TimedCall const call(scheduler_.keeper(), DriverCall::record);
  expect_no_capture("allocating memory");
  scheduler_.expect_healthy();
  return ordered_.allocate(state_, bytes);
}

void CpuStream::launch(std::uint32_t blocks, CpuKernel kernel, KernelCost const& cost) {
  TimedCall const call(scheduler_.keeper(), DriverCall::launch);
  if (blocks == 0 || !kernel) {
    throw Error(ErrorKind::bad_argument, "A launch needs a kernel and at least one block: skip it when there is none.");
  }
  faults_.refuse(Fault::refuse_launch, "a launch");
  if (faults_.strikes(Fault::drop_launch))
    return refusals_.leave(FaultPoints::refusal("a launch whose result was not checked"));
  bool const breaks = faults_.strikes(Fault::break_kernel);
  auto const over_the_link = [&](DeviceSpan<std::byte const> touched) -> std::size_t {
    if (!modelled() || touched.empty()) return 0;
    return memory_.is_pinned({touched.address(), touched.size()}) ? touched.size() : 0;
  };
  put({.kind = Kind::kernel,
       .kernel = std::move(kernel),
       .blocks = blocks,
       .cost = cost,
       .linked_reads = over_the_link(cost.reads[0]) + over_the_link(cost.reads[1]),
       .linked_writes = over_the_link(cost.writes),
       .failure = attributions_.mine(),
       .breaks = breaks});
  if (launches_block_ && capturing_ == nullptr) scheduler_.synchronize(state_);
}

void CpuStream::record(EventBackend& event) {
  TimedCall const call(scheduler_.keeper(), DriverCall::record);
  expect_no_capture("recording an event");
  faults_.refuse(Fault::refuse_record, "to record an event");
  CpuEvent& recorded = CpuEvent::of(event, scheduler_);
  if (recorded.shared() != nullptr) return record_shared(scheduler_, state_, recorded.state(), recorded.shared());
  scheduler_.enqueue(state_, {.kind = Kind::record, .event = &recorded.state()});
}

void CpuStream::wait(EventBackend& event) {
  TimedCall const call(scheduler_.keeper(), DriverCall::wait);
  expect_no_capture("waiting for an event");
  faults_.refuse(Fault::refuse_wait, "to wait for an event");
  CpuEvent& awaited = CpuEvent::of(event);
  if (awaited.recorded_elsewhere()) return await_shared(scheduler_, state_, *awaited.shared());
  if (&awaited.scheduler() != &scheduler_)
    return await_abroad(scheduler_, state_, awaited.scheduler(), awaited.state());
  scheduler_.enqueue(state_, {.kind = Kind::wait, .event = &awaited.state()});
}

void CpuStream::call(StreamCallback& callback) {
  put_call(callback, true);
}

void CpuStream::launch_host_function(StreamCallback& callback) {
  put_call(callback, false);
}

void CpuStream::put_call(StreamCallback& callback, bool knows_status) {
  TimedCall const call(scheduler_.keeper(), DriverCall::callback);
  expect_no_capture("a callback");
  faults_.refuse(Fault::refuse_call, "a callback");
  Request request{.kind = Kind::callback, .callback = &callback, .delivery = next_delivery(faults_)};
  request.lie = next_lie(faults_);
  request.knows_status = knows_status;
  bool const early = request.delivery == Delivery::early;
  scheduler_.enqueue(state_, std::move(request));
  if (early) callback.called({});
}

void CpuStream::write(FlagBackend& flag, std::uint64_t number) {
  TimedCall const call(scheduler_.keeper(), DriverCall::record);
  expect_no_capture("writing a flag");
  faults_.refuse(Fault::refuse_call, "to write a flag");
  bool const lost = faults_.strikes(Fault::lost_write);
  if (faults_.strikes(Fault::early_write)) {
    std::atomic_ref<std::uint64_t>(flag.word()).store(number, std::memory_order_release);
  }
  scheduler_.enqueue(state_, {.kind = Kind::write, .word = lost ? nullptr : &flag.word(), .number = number});
}

bool CpuStream::idle() {
  TimedCall const call(scheduler_.keeper(), DriverCall::query);
  expect_no_capture("asking whether the stream is idle");
  faults_.refuse(Fault::refuse_query, "a question");
  return scheduler_.idle(state_);
}

void CpuStream::synchronize() {
  TimedCall const call(scheduler_.keeper(), DriverCall::synchronize);
  expect_no_capture("waiting for the stream");
  scheduler_.synchronize(state_);
}

void CpuStream::begin_capture() {
  if (state_.type == StreamType::legacy) return StreamBackend::begin_capture();
  expect_no_capture("another capture");
  auto begun = std::make_unique<CpuCapture>(scheduler_);
  scheduler_.begin_capture();
  capturing_ = std::move(begun);
}

std::unique_ptr<CaptureBackend> CpuStream::end_capture() {
  if (capturing_ == nullptr) return StreamBackend::end_capture();
  auto captured = std::move(capturing_);
  scheduler_.end_capture();
  scheduler_.expect_healthy();
  captured->expect_unspoiled();
  faults_.refuse(Fault::refuse_capture, "a capture");
  return captured;
}

void CpuStream::launch(CaptureBackend& capture) {
  TimedCall const call(scheduler_.keeper(), DriverCall::graph);
  CpuCapture const& captured = CpuCapture::of(capture, scheduler_);
  expect_no_capture("launching another");
  faults_.refuse(Fault::refuse_launch, "a launch");
  if (faults_.strikes(Fault::drop_launch))
    return refusals_.leave(FaultPoints::refusal("a launch whose result was not checked"));
  bool breaks = faults_.strikes(Fault::break_kernel);
  WorkFailure* const failure = attributions_.mine();
  for (Request request : captured.requests()) {
    request.failure = failure;
    request.breaks = request.breaks || (breaks && request.kind == Kind::kernel);
    breaks = breaks && !request.breaks;
    enqueue(std::move(request));
  }
}

/// Puts a copy to or from that memory of the host's. Where a TimeKeeper keeps time, the call lasts as long as the copy,
/// if the memory is pageable.
void CpuStream::put_copy(Request request, std::span<std::byte const> host) {
  TimeKeeper const* const keeper = scheduler_.keeper();
  if (keeper == nullptr) return put(std::move(request));
  request.pageable = !memory_.is_pinned(host);
  request.far = keeper->is_far(host.data(), memory_.place_of(host));
  bool const waits = request.pageable && capturing_ == nullptr;
  put(std::move(request));
  if (waits) scheduler_.synchronize(state_);
}

/// Gives it to the scheduler, or to the capture.
void CpuStream::put(Request request) {
  if (capturing_ != nullptr) return capturing_->add(std::move(request));
  enqueue(std::move(request));
}

void CpuStream::enqueue(Request request) {
  bool const runs_it = request.kind == Kind::kernel && Scheduler::computes_here(state_);
  if (!runs_it) return scheduler_.enqueue(state_, std::move(request));
  engines_.work_on(scheduler_.enqueue_and_take(state_, std::move(request)));
}

/// Refuses what a capture cannot have, which spoils it.
void CpuStream::expect_no_capture(char const* what) {
  if (capturing_ != nullptr) capturing_->spoil(what);
}

}  // namespace penstock::cpu
