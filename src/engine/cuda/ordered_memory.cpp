// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/ordered_memory.hpp"

#include <memory>
#include <string>
#include <utility>

#include "engine/cuda/memory.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {
namespace {

void expect_no_capture(Health& health, cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  health.check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  if (status == cudaStreamCaptureStatusNone) return;
  throw Error(ErrorKind::device_refused,
              "A stream that captures cannot do this: allocating memory. Allocate before the capture begins.");
}

class OrderedAllocation final : public RegionBackend {
 public:
  OrderedAllocation(Health& health, std::size_t bytes, cudaStream_t stream) : health_(health), stream_(stream) {
    cudaError_t const result = cudaMallocAsync(&address_, bytes, stream);
    if (result == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      throw Error(ErrorKind::out_of_device_memory,
                  std::string(no_room_on_device(bytes).what()) +
                      " What streams have freed is there again once they are synchronized.");
    }
    if (result == cudaErrorNotSupported) {
      static_cast<void>(cudaGetLastError());
      throw Error(ErrorKind::unsupported, "This GPU has no memory pools: use Device::allocate, before the first tile.");
    }
    health_.check(result, "cudaMallocAsync");
    count_as(Kind::device, bytes);
  }
  OrderedAllocation(OrderedAllocation const&) = delete;
  OrderedAllocation& operator=(OrderedAllocation const&) = delete;
  ~OrderedAllocation() override {
    if (health_.leaves_all()) {
      count_for_ever();
    } else {
      health_.report(cudaFreeAsync(address_, stream_), "cudaFreeAsync");
    }
  }

  std::byte* address() const noexcept { return static_cast<std::byte*>(address_); }

 private:
  Health& health_;
  cudaStream_t const stream_;
  void* address_ = nullptr;
};

}  // namespace

DeviceMemory allocate_in_order(Health& health, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return {};
  health.expect_waited_for("An allocation");
  expect_no_capture(health, stream);
  auto owned = std::make_unique<OrderedAllocation>(health, bytes, stream);
  std::span const region{owned->address(), bytes};
  return {region, std::move(owned)};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
