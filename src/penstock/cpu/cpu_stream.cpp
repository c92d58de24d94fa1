// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/cpu_stream.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <utility>

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

void expect_room(std::size_t to, std::size_t from) {
  if (to >= from) return;
  throw Error(ErrorKind::bad_argument, "A copy of " + std::to_string(from) + " bytes does not fit into " +
                                           std::to_string(to) + ": make the target as large as the source.");
}

Delivery next_delivery(Faults& faults) {
  auto delivery = Delivery::once;
  // Each is asked, so that each counts every callback.
  if (faults.strikes(Fault::late_callback)) delivery = Delivery::late;
  if (faults.strikes(Fault::early_callback)) delivery = Delivery::early;
  if (faults.strikes(Fault::double_callback)) delivery = Delivery::twice;
  if (faults.strikes(Fault::lost_callback)) delivery = Delivery::never;
  if (faults.strikes(Fault::stray_callback)) delivery = Delivery::stray;
  return delivery;
}

/// What a callback will be told falsely, if anything.
std::optional<StreamStatus> next_lie(Faults& faults) {
  std::optional<StreamStatus> lie;
  if (faults.strikes(Fault::false_alarm)) lie = {.ok = false, .sticky = false, .code = false_fault};
  if (faults.strikes(Fault::false_loss)) lie = {.ok = false, .sticky = true, .code = false_fault};
  return lie;
}

}  // namespace

CpuStream::CpuStream(Scheduler& scheduler, MemoryLedger const& memory, Faults& faults, Refusals& refusals,
                     StreamType type, int priority)
    : scheduler_(scheduler),
      memory_(memory),
      faults_(faults),
      refusals_(refusals),
      state_(type, std::clamp(priority, greatest_priority, least_priority)) {
  scheduler_.expect_healthy();
  scheduler_.add(state_);
}

CpuStream::~CpuStream() {
  scheduler_.remove(state_);
}

void CpuStream::upload(std::span<std::byte> to, std::span<std::byte const> from) {
  expect_room(to.size(), from.size());
  memory_.expect_device_memory(to.first(from.size()));
  faults_.refuse(Fault::refuse_upload, "an upload");
  bool const breaks = faults_.strikes(Fault::break_upload);
  put({.kind = Kind::upload, .to = to, .from = from, .breaks = breaks});
}

void CpuStream::download(std::span<std::byte> to, std::span<std::byte const> from) {
  expect_room(to.size(), from.size());
  memory_.expect_device_memory(from);
  faults_.refuse(Fault::refuse_download, "a download");
  bool const breaks = faults_.strikes(Fault::break_download);
  put({.kind = Kind::download, .to = to, .from = from, .breaks = breaks});
}

void CpuStream::launch(std::uint32_t blocks, CpuKernel kernel) {
  if (blocks == 0 || !kernel) {
    throw Error(ErrorKind::bad_argument, "A launch needs a kernel and at least one block: skip it when there is none.");
  }
  faults_.refuse(Fault::refuse_launch, "a launch");
  if (faults_.strikes(Fault::drop_launch))
    return refusals_.leave(Faults::refusal("a launch whose result was not checked"));
  bool const breaks = faults_.strikes(Fault::break_kernel);
  put({.kind = Kind::kernel,
       .kernel = std::move(kernel),
       .blocks = blocks,
       .failure = attributions_.mine(),
       .breaks = breaks});
}

void CpuStream::record(EventBackend& event) {
  expect_no_capture("recording an event");
  faults_.refuse(Fault::refuse_record, "to record an event");
  scheduler_.enqueue(state_, {.kind = Kind::record, .event = &CpuEvent::of(event, scheduler_)});
}

void CpuStream::wait(EventBackend& event) {
  expect_no_capture("waiting for an event");
  faults_.refuse(Fault::refuse_wait, "to wait for an event");
  scheduler_.enqueue(state_, {.kind = Kind::wait, .event = &CpuEvent::of(event, scheduler_)});
}

void CpuStream::call(StreamCallback& callback) {
  put_call(callback, true);
}

void CpuStream::launch_host_function(StreamCallback& callback) {
  put_call(callback, false);
}

void CpuStream::put_call(StreamCallback& callback, bool knows_status) {
  expect_no_capture("a callback");
  faults_.refuse(Fault::refuse_call, "a callback");
  Request call{.kind = Kind::callback, .callback = &callback, .delivery = next_delivery(faults_)};
  call.lie = next_lie(faults_);
  call.knows_status = knows_status;
  bool const early = call.delivery == Delivery::early;
  scheduler_.enqueue(state_, std::move(call));
  if (early) callback.called({});
}

void CpuStream::write(FlagBackend& flag, std::uint64_t number) {
  expect_no_capture("writing a flag");
  faults_.refuse(Fault::refuse_call, "to write a flag");
  bool const lost = faults_.strikes(Fault::lost_write);
  if (faults_.strikes(Fault::early_write)) {
    std::atomic_ref<std::uint64_t>(flag.word()).store(number, std::memory_order_release);
  }
  scheduler_.enqueue(state_, {.kind = Kind::write, .word = lost ? nullptr : &flag.word(), .number = number});
}

bool CpuStream::idle() {
  expect_no_capture("asking whether the stream is idle");
  faults_.refuse(Fault::refuse_query, "a question");
  return scheduler_.idle(state_);
}

void CpuStream::synchronize() {
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
  CpuCapture const& captured = CpuCapture::of(capture, scheduler_);
  expect_no_capture("launching another");
  faults_.refuse(Fault::refuse_launch, "a launch");
  if (faults_.strikes(Fault::drop_launch))
    return refusals_.leave(Faults::refusal("a launch whose result was not checked"));
  bool breaks = faults_.strikes(Fault::break_kernel);
  WorkFailure* const failure = attributions_.mine();
  for (Request request : captured.requests()) {
    request.failure = failure;
    request.breaks = request.breaks || (breaks && request.kind == Kind::kernel);
    breaks = breaks && !request.breaks;
    scheduler_.enqueue(state_, std::move(request));
  }
}

/// Gives it to the scheduler, or to the capture.
void CpuStream::put(Request request) {
  if (capturing_ != nullptr) return capturing_->add(std::move(request));
  scheduler_.enqueue(state_, std::move(request));
}

/// Refuses what a capture cannot have, which spoils it.
void CpuStream::expect_no_capture(char const* what) {
  if (capturing_ != nullptr) capturing_->spoil(what);
}

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
