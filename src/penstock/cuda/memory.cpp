// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/memory.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace penstock::cuda {
namespace {

/// "512 bytes", "3.5 MiB": to three or four digits, for people.
std::string in_words(std::size_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes);
  char const* unit = "bytes";
  for (char const* larger : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    if (value < 1024) break;
    value /= 1024;
    unit = larger;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", value, unit);
  return text;
}

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t physical_memory() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
}

std::string locked_memory_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : in_words(limit.rlim_cur);
}

Error no_room_on_device(std::size_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  std::string sentence = "The GPU has no room for " + in_words(bytes);
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
    sentence += ": " + in_words(free) + " of its " + in_words(total) + " are free";
  }
  return Error(ErrorKind::out_of_device_memory, sentence + ". Use fewer --tiles or a smaller --tile.");
}

Error cannot_pin(std::size_t bytes, std::string const& why) {
  return Error(ErrorKind::out_of_pinned_memory, "The host cannot pin " + in_words(bytes) + ": " + why +
                                                    ". Use fewer --tiles or a smaller --tile, or raise " +
                                                    "the locked-memory limit (ulimit -l, now " + locked_memory_limit() +
                                                    ") and the container's memory limit.");
}

class Allocation final : public RegionBackend {
 public:
  Allocation(Health& health, std::size_t bytes) : health_(health) {
    cudaError_t const result = cudaMalloc(&address_, bytes);
    if (result == cudaErrorMemoryAllocation) {
      // Told in full here, so nobody else needs to find it.
      static_cast<void>(cudaGetLastError());
      throw no_room_on_device(bytes);
    }
    health_.check(result, "cudaMalloc");
  }
  Allocation(Allocation const&) = delete;
  Allocation& operator=(Allocation const&) = delete;
  ~Allocation() override { health_.report(cudaFree(address_), "cudaFree"); }

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
    health_.check(result, "cudaHostRegister");
  }
  Registration(Registration const&) = delete;
  Registration& operator=(Registration const&) = delete;
  ~Registration() override { health_.report(cudaHostUnregister(address_), "cudaHostUnregister"); }

 private:
  Health& health_;
  void* address_;
};

}  // namespace

DeviceMemory allocate(Health& health, std::size_t bytes) {
  if (bytes == 0) return {};
  auto owned = std::make_unique<Allocation>(health, bytes);
  std::span const region{owned->address(), bytes};
  return {region, std::move(owned)};
}

Pinned pin(Health& health, std::span<std::byte> host) {
  if (host.empty()) return {};
  if (reinterpret_cast<std::uintptr_t>(host.data()) % page_bytes() != 0) {
    throw Error(ErrorKind::bad_argument, "Pinned memory starts on a page of " + in_words(page_bytes()) +
                                             ": allocate it with mmap or aligned_alloc.");
  }
  // Asked before the driver, which would first pin all that there is.
  if (host.size() > physical_memory()) {
    throw cannot_pin(host.size(), "the machine has " + in_words(physical_memory()));
  }
  return Pinned(std::make_unique<Registration>(health, host));
}

}  // namespace penstock::cuda
