// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/memory.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "engine/core/number_text.hpp"

namespace penstock::cuda {
namespace {

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t physical_memory() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
}

std::string locked_memory_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : size_text(limit.rlim_cur);
}

Error cannot_pin(std::size_t bytes, std::string const& why) {
  return Error(ErrorKind::out_of_pinned_memory, "The host cannot pin " + size_text(bytes) + ": " + why +
                                                    ". Use fewer --tiles or a smaller --tile, or raise " +
                                                    "the locked-memory limit (ulimit -l, now " + locked_memory_limit() +
                                                    ") and the container's memory limit.");
}

class Allocation final : public RegionBackend {
 public:
  Allocation(Health& health, std::size_t bytes) : health_(health) {
    cudaError_t const result = cudaMalloc(&address_, bytes);
    if (result == cudaErrorMemoryAllocation) {
      // The Error tells it in full, so no later check needs to find it.
      static_cast<void>(cudaGetLastError());
      throw no_room_on_device(bytes);
    }
    health_.check(result, "cudaMalloc");
    count_as(Kind::device, bytes);
  }
  Allocation(Allocation const&) = delete;
  Allocation& operator=(Allocation const&) = delete;
  ~Allocation() override {
    // It would wait for a kernel that no thread waits for any more, and so would every later call of the driver's.
    if (health_.leaves_all()) {
      count_for_ever();
    } else {
      health_.report(cudaFree(address_), "cudaFree");
    }
  }

  std::byte* address() const noexcept { return static_cast<std::byte*>(address_); }

 private:
  Health& health_;
  void* address_ = nullptr;
};

class Registration final : public RegionBackend {
 public:
  Registration(Health& health, std::span<std::byte> host) : health_(health), address_(host.data()) {
    unsigned const flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
    cudaError_t const result = cudaHostRegister(address_, host.size(), flags);
    if (result == cudaErrorMemoryAllocation || result == cudaErrorOperatingSystem) {
      static_cast<void>(cudaGetLastError());
      throw cannot_pin(host.size(), std::string("CUDA says ") + cudaGetErrorName(result));
    }
    if (result == cudaErrorHostMemoryAlreadyRegistered) {
      static_cast<void>(cudaGetLastError());
      throw Error(
          ErrorKind::bad_argument,
          "Part of this memory is pinned already: pin each page once, and unpin what cudaHostRegister or another "
          "pipeline has pinned.");
    }
    health_.check(result, "cudaHostRegister");
    count_as(Kind::pinned, host.size());
  }
  Registration(Registration const&) = delete;
  Registration& operator=(Registration const&) = delete;
  ~Registration() override {
    if (health_.leaves_all()) {
      count_for_ever();
    } else {
      health_.report(cudaHostUnregister(address_), "cudaHostUnregister");
    }
  }

 private:
  Health& health_;
  void* address_;
};

}  // namespace

Error no_room_on_device(std::size_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  std::string sentence = "The GPU has no room for " + size_text(bytes);
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
    sentence += ": " + size_text(free) + " of its " + size_text(total) + " are free";
  }
  return Error(ErrorKind::out_of_device_memory, sentence + ". Use fewer --tiles or a smaller --tile.");
}

DeviceMemory allocate(Health& health, std::size_t bytes) {
  if (bytes == 0) return {};
  auto owned = std::make_unique<Allocation>(health, bytes);
  std::span const region{owned->address(), bytes};
  return {region, std::move(owned)};
}

Pinned pin(Health& health, std::span<std::byte> host) {
  if (host.empty()) return {};
  if (reinterpret_cast<std::uintptr_t>(host.data()) % page_bytes() != 0) {
    throw Error(ErrorKind::bad_argument, "Pinned memory starts on a page of " + size_text(page_bytes()) +
                                             ": allocate it with mmap or aligned_alloc.");
  }
  // Asked before the driver, which would first pin all that there is.
  if (host.size() > physical_memory()) {
    throw cannot_pin(host.size(), "the machine has " + size_text(physical_memory()));
  }
  return Pinned(std::make_unique<Registration>(health, host));
}

std::optional<std::span<std::byte>> mapped(Health& health, std::span<std::byte> host) {
  if (host.empty()) return host;
  void* address = nullptr;
  cudaError_t const result = cudaHostGetDevicePointer(&address, host.data(), 0);
  if (result == cudaErrorInvalidValue || result == cudaErrorHostMemoryNotRegistered ||
      result == cudaErrorNotSupported) {
    static_cast<void>(cudaGetLastError());
    return std::nullopt;
  }
  health.check(result, "cudaHostGetDevicePointer");
  return std::span(static_cast<std::byte*>(address), host.size());
}

}  // namespace penstock::cuda
