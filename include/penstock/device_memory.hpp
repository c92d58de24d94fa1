// SPDX-License-Identifier: Apache-2.0
// Memory of devices, host memory that is pinned or written by streams, and the cost of kernels on such memory.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace penstock {

class StreamBackend;
namespace cpu {
class Engines;
}

/// One call of a CPU kernel: its block number. Only a device makes one, when it calls the kernel. Code that has one
/// therefore runs after all work that was put into the stream before the launch.
class KernelBlock {
 public:
  constexpr operator std::uint32_t() const noexcept { return number_; }  // NOLINT(google-explicit-constructor)

 private:
  friend class cpu::Engines;
  friend class StreamBackend;
  explicit constexpr KernelBlock(std::uint32_t number) noexcept : number_(number) {}
  std::uint32_t number_;
};

/// Elements in the memory of a device, also of the CPU device. A span can be cut, passed on and given to kernels and
/// copies. The host cannot read it, since the device may still be copying when a stage gets it. A CPU kernel can, with
/// its block.
///
/// Shape:   size() consecutive elements.
/// Threads: any; it is copied like a pointer and owns nothing.
template <class T>
class DeviceSpan {
 public:
  constexpr DeviceSpan() noexcept = default;
  /// Elements at an address that is valid on the device, such as DeviceMemory::bytes.
  constexpr DeviceSpan(T* address, std::size_t size) noexcept : address_(address), size_(size) {}
  // Converts implicitly, so that a launcher accepts these types without a cast: none of them lets the host read more
  // than it could before.
  // NOLINTBEGIN(google-explicit-constructor, bugprone-forwarding-reference-overload)
  template <class Memory>
  requires std::is_convertible_v<Memory&&, std::span<T>>
  constexpr DeviceSpan(Memory&& memory) noexcept : DeviceSpan(std::span<T>(memory)) {}
  constexpr DeviceSpan(std::span<T> memory) noexcept : address_(memory.data()), size_(memory.size()) {}
  /// The same elements, to be read only.
  template <class Other, class = std::enable_if_t<std::is_same_v<Other const, T>>>
  constexpr DeviceSpan(DeviceSpan<Other> other) noexcept : address_(other.address()), size_(other.size()) {}
  // NOLINTEND(google-explicit-constructor, bugprone-forwarding-reference-overload)

  constexpr std::size_t size() const noexcept { return size_; }
  constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  constexpr bool empty() const noexcept { return size_ == 0; }

  /// Shape: `count` is at most size().
  constexpr DeviceSpan first(std::size_t count) const noexcept { return {address_, count}; }
  /// Shape: `offset` and `count` together are at most size().
  constexpr DeviceSpan subspan(std::size_t offset, std::size_t count) const noexcept {
    return {address_ + offset, count};
  }
  constexpr DeviceSpan subspan(std::size_t offset) const noexcept { return {address_ + offset, size_ - offset}; }
  /// The same bytes as elements of another type, as many as fit.
  ///
  /// Shape: begins at a multiple of the type's alignment. Tiles do, for any type of the language.
  template <class Other>
  DeviceSpan<Other> as() const noexcept {
    static_assert(std::is_const_v<Other> || !std::is_const_v<T>, "Elements that are read only stay so.");
    return {reinterpret_cast<Other*>(address_), size_bytes() / sizeof(Other)};
  }

  /// The device's address of the first element, as argument of a CUDA kernel. The host must not read through it.
  constexpr T* address() const noexcept { return address_; }
  /// The elements themselves, in a CPU kernel.
  constexpr std::span<T> in(KernelBlock) const noexcept { return {address_, size_}; }

 private:
  T* address_ = nullptr;
  std::size_t size_ = 0;
};

/// Cost of a kernel on a modelled GPU (docs/models.md). The kernel takes as long as its slowest part; with all 0 it
/// costs its launch only. Other devices ignore it.
struct KernelCost {
  /// Memory that it reads and writes; host memory is accessed over the link.
  std::array<DeviceSpan<std::byte const>, 2> reads = {};
  DeviceSpan<std::byte const> writes = {};
  /// Floating-point operations; a kernel of few blocks does them with its share of the multiprocessors.
  double flops = 0;
  double tensor_flops = 0;  ///< Those on tensor cores, likewise.
  /// Bytes that it sends to other GPUs, while it receives as many: over the link between GPUs, or over the link to the
  /// host if there is none.
  double peer_bytes = 0;
  std::chrono::nanoseconds time = {};  ///< Time of one wave of blocks; a grid that does not fit at once takes several.
  std::uint32_t blocks = 0;            ///< Blocks of the grid; 0: the kernel fills the GPU, so no other runs beside it.
  std::uint32_t block_threads = 128;   ///< Threads per block.
  std::uint32_t barriers = 0;          ///< Barriers at which all its blocks meet, in a cooperative launch.
  /// Places where the modelled GPU writes start and end of the kernel, in nanoseconds of Clock, before its stream
  /// continues; or null.
  std::uint64_t* began = nullptr;
  std::uint64_t* ended = nullptr;
};

/// Bytes of this process: memory of devices, and memory of the host that devices have pinned (by each that did).
struct MemoryUse {
  std::uint64_t device = 0;
  std::uint64_t pinned = 0;
};

/// Memory that is held now.
///
/// Threads: any. The same is true of the other two.
MemoryUse memory_held() noexcept;
/// The most of each that was held since the process began, or since forget_memory_peaks.
MemoryUse memory_peaks() noexcept;
/// Resets the peaks to the memory held now.
void forget_memory_peaks() noexcept;

/// A device implements this to own a region; its destructor frees device memory or unpins host memory. Users hold
/// DeviceMemory or Pinned.
class RegionBackend {
 public:
  enum class Kind : std::uint8_t { device, pinned };

  RegionBackend() = default;
  RegionBackend(RegionBackend const&) = delete;
  RegionBackend& operator=(RegionBackend const&) = delete;
  virtual ~RegionBackend();

 protected:
  /// Counts the region as held from here on, until it dies. Call this at most once; a region without a call is not
  /// counted.
  void count_as(Kind kind, std::size_t bytes) noexcept;
  /// The region stays counted as held after this object dies.
  void count_for_ever() noexcept;

 private:
  Kind kind_ = Kind::device;
  std::size_t bytes_ = 0;
};

/// Owns memory of a device. Must die before its Device.
///
/// The span's addresses mean something to the device; on a GPU the host must not read through them.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(std::span<std::byte> bytes, std::unique_ptr<RegionBackend> owned) noexcept
      : bytes_(bytes), owned_(std::move(owned)) {}
  DeviceMemory(DeviceMemory&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), owned_(std::move(other.owned_)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    owned_ = std::move(other.owned_);
    return *this;
  }
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
  std::unique_ptr<RegionBackend> owned_;
};

/// Keeps host memory pinned, so that the device may copy from and to it on its own. Unpins when it dies; must die
/// before its Device and before the memory does.
class Pinned {
 public:
  Pinned() = default;
  explicit Pinned(std::unique_ptr<RegionBackend> owned) noexcept : owned_(std::move(owned)) {}

 private:
  std::unique_ptr<RegionBackend> owned_;
};

/// A device implements this to own a flag. Users hold a Flag or a FlagRef.
class FlagBackend {
 public:
  /// `word` is 0, aligned to a cache line of its own, and can be written by the device.
  explicit FlagBackend(std::uint64_t& word) noexcept : word_(&word) {}
  FlagBackend(FlagBackend const&) = delete;
  FlagBackend& operator=(FlagBackend const&) = delete;
  virtual ~FlagBackend() = default;
  std::uint64_t& word() const noexcept { return *word_; }

 private:
  std::uint64_t* word_;
};

/// A 64-bit number in host memory that streams write and the host reads. Cheap to copy; the Flag it came from must
/// outlive it.
class FlagRef {
 public:
  FlagRef(std::nullptr_t) = delete;
  explicit FlagRef(FlagBackend& backend) noexcept : backend_(&backend) {}

  /// The number that was written last; 0 at first.
  ///
  /// Threads: any.
  /// Blocks:  never; it is a load from memory and asks no driver.
  std::uint64_t read() const noexcept {
    // Acquire: a reader of the number sees what the stream copied to the host before it wrote the number.
    return std::atomic_ref<std::uint64_t>(backend_->word()).load(std::memory_order_acquire);
  }
  FlagBackend& backend() const noexcept { return *backend_; }

 private:
  FlagBackend* backend_;
};

/// Owns a flag of a device. It must die before its Device, and after the streams that were requested to write it have
/// done so.
class Flag : public FlagRef {
 public:
  explicit Flag(std::unique_ptr<FlagBackend> backend) noexcept : FlagRef(*backend), owned_(std::move(backend)) {}

 private:
  std::unique_ptr<FlagBackend> owned_;
};

}  // namespace penstock
