// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/stream.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "engine/cuda/default_stream.hpp"
#include "engine/cuda/handles.hpp"
#include "engine/cuda/ordered_memory.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {
namespace {

#if CUDART_VERSION >= 13000
/// Copies that the driver is given at once.
constexpr std::size_t most_copies_a_call = 64;
/// From this many copies on, one call is faster than one call for each, though threads take turns.
constexpr std::size_t worth_a_batch = 4;

/// One thread of the process at a time may call cudaMemcpyBatchAsync: with driver 580, streams that get copies by it
/// from four or more threads stand still for ever, or the device is lost, also in a program of nothing but such calls
/// (docs/decisions/batches.md).
std::mutex& turn_to_batch() {
  static std::mutex turn;
  return turn;
}
#endif

void check_room(std::size_t to, std::size_t from) {
  if (to >= from) return;
  throw Error(ErrorKind::bad_argument, "A copy of " + std::to_string(from) + " bytes does not fit into " +
                                           std::to_string(to) + ": give it a destination of at least its size.");
}

// Runs on a thread of the driver's, where every CUDA call is forbidden.
void CUDART_CB trampoline(cudaStream_t, cudaError_t status, void* call) {
  PendingCalls::make(*static_cast<PendingCalls::Call*>(call),
                     {.ok = status == cudaSuccess, .sticky = is_sticky(status), .code = static_cast<int>(status)});
}

void CUDART_CB host_function(void* call) {
  PendingCalls::make(*static_cast<PendingCalls::Call*>(call), {});
}

cudaStream_t create(Health& health, StreamOptions options) {
  int least = 0;
  int greatest = 0;
  health.check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  health.check(cudaStreamCreateWithPriority(&stream, options.blocking ? cudaStreamDefault : cudaStreamNonBlocking,
                                            std::clamp(options.priority, greatest, least)),
               "cudaStreamCreateWithPriority");
  return stream;
}

}  // namespace

void CudaStream::upload(std::span<std::byte> to, std::span<std::byte const> from) {
  check_room(to.size(), from.size());
  if (from.empty()) return;
  health_.expect_waited_for("An upload");
  health_.check(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyHostToDevice, handle_),
                "cudaMemcpyAsync (upload)");
}

void CudaStream::download(std::span<std::byte> to, std::span<std::byte const> from) {
  check_room(to.size(), from.size());
  if (from.empty()) return;
  health_.expect_waited_for("A download");
  health_.check(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDeviceToHost, handle_),
                "cudaMemcpyAsync (download)");
}

void CudaStream::upload_all(std::span<Copy const> copies) {
  if (copies.empty()) return;
  health_.expect_waited_for("An upload");
  copy_all(copies, cudaMemcpyHostToDevice, "cudaMemcpyAsync (upload)");
}

void CudaStream::download_all(std::span<Copy const> copies) {
  if (copies.empty()) return;
  health_.expect_waited_for("A download");
  copy_all(copies, cudaMemcpyDeviceToHost, "cudaMemcpyAsync (download)");
}

/// One call for many copies, where the runtime has one and the stream is not the legacy one, which it does not take.
void CudaStream::copy_all(std::span<Copy const> copies, cudaMemcpyKind kind, char const* what) {
  for (Copy const& copy : copies) check_room(copy.to.size(), copy.from.size());
#if CUDART_VERSION >= 13000
  if (copies.size() >= worth_a_batch && handle_ != nullptr && handle_ != legacy_stream()) {
    // No thread waits for the turn: a GPU that has stopped may keep the thread that has it in the call.
    std::unique_lock const turn(turn_to_batch(), std::try_to_lock);
    if (turn) return copy_in_batches(copies);
  }
#endif
  for (Copy const& copy : copies) {
    if (copy.from.empty()) continue;
    health_.check(cudaMemcpyAsync(copy.to.data(), copy.from.data(), copy.from.size(), kind, handle_), what);
  }
}

#if CUDART_VERSION >= 13000
/// The caller has the turn.
void CudaStream::copy_in_batches(std::span<Copy const> copies) {
  std::array<void*, most_copies_a_call> to{};
  std::array<void const*, most_copies_a_call> from{};
  std::array<std::size_t, most_copies_a_call> bytes{};
  cudaMemcpyAttributes in_order{};
  in_order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  for (std::size_t done = 0; done < copies.size();) {
    std::size_t count = 0;
    for (; count < most_copies_a_call && done < copies.size(); ++done) {
      if (copies[done].from.empty()) continue;
      to[count] = copies[done].to.data();
      from[count] = copies[done].from.data();
      bytes[count++] = copies[done].from.size();
    }
    if (count == 0) return;
    std::size_t first = 0;
    health_.check(cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), count, &in_order, &first, 1, handle_),
                  "cudaMemcpyBatchAsync");
  }
}
#endif

void CudaStream::copy(std::span<std::byte> to, std::span<std::byte const> from) {
  check_room(to.size(), from.size());
  if (from.empty()) return;
  health_.expect_waited_for("A copy");
  // Addresses say which GPU each is of.
  health_.check(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDeviceToDevice, handle_),
                "cudaMemcpyAsync (device to device)");
}

DeviceMemory CudaStream::allocate(std::size_t bytes) {
  return allocate_in_order(health_, bytes, handle_);
}

void CudaStream::launch(std::uint32_t, CpuKernel, KernelCost const&) {
  throw Error(ErrorKind::unsupported,
              "A CUDA stream runs no CPU kernel: give the stage a CUDA body, or run it on the CPU device.");
}

void CudaStream::record(EventBackend& event) {
  CudaEvent::of(event).record(handle_);
}

void CudaStream::wait(EventBackend& event) {
  health_.check(cudaStreamWaitEvent(handle_, CudaEvent::of(event).event(), 0), "cudaStreamWaitEvent");
}

void CudaStream::call(StreamCallback& callback) {
  PendingCalls::Call& call = calls_.owe(callback);
  cudaError_t const answer = cudaStreamAddCallback(handle_, trampoline, &call, 0);
  // CUDA may have taken the call and answer with the fault of earlier work.
  if (answer != cudaSuccess) PendingCalls::drop(call);
  health_.check(answer, "cudaStreamAddCallback");
}

void CudaStream::launch_host_function(StreamCallback& callback) {
  PendingCalls::Call& call = calls_.owe(callback);
  cudaError_t const answer = cudaLaunchHostFunc(handle_, host_function, &call);
  if (answer != cudaSuccess) PendingCalls::drop(call);
  health_.check(answer, "cudaLaunchHostFunc");
}

void CudaStream::write(FlagBackend& flag, std::uint64_t number) {
  CudaFlag::of(flag).write(handle_, number);
}

bool CudaStream::idle() {
  return health_.ready(cudaStreamQuery(handle_), "cudaStreamQuery");
}

void CudaStream::synchronize() {
  health_.expect_waited_for("cudaStreamSynchronize");
  health_.check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
}

void CudaStream::launch(CaptureBackend& capture) {
  CudaCapture::of(capture).launch(handle_);
}

OwnedCudaStream::OwnedCudaStream(Health& health, StreamOptions options) : CudaStream(health, create(health, options)) {}

OwnedCudaStream::~OwnedCudaStream() {
  if (health().leaves_all()) return;
  health().report(cudaStreamSynchronize(handle()), "cudaStreamSynchronize");
  health().report(cudaStreamDestroy(handle()), "cudaStreamDestroy");
}

void OwnedCudaStream::begin_capture() {
  health().expect_waited_for("A capture");
  health().check(cudaStreamBeginCapture(handle(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

std::unique_ptr<CaptureBackend> OwnedCudaStream::end_capture() {
  cudaGraph_t graph = nullptr;
  cudaError_t const answer = cudaStreamEndCapture(handle(), &graph);
  // There is no graph if the capture was spoiled.
  auto const destroy = [this](cudaGraph_t made) { health().report(cudaGraphDestroy(made), "cudaGraphDestroy"); };
  std::unique_ptr<CUgraph_st, decltype(destroy)> const owned(graph, destroy);
  health().check(answer, "cudaStreamEndCapture");
  auto captured = std::make_unique<CudaCapture>(health(), graph);
  captured->upload(handle());
  return captured;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
