// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace penstock {

class StreamBackend;
namespace cpu {
class Engines;
}

/// One call of a CPU kernel: the number of its block. Only a device makes one, when it calls the kernel, so code that
/// has one runs behind all that was put into the stream before the launch.
class KernelBlock {
 public:
  constexpr operator std::uint32_t() const noexcept { return number_; }  // NOLINT(google-explicit-constructor)

 private:
  friend class cpu::Engines;
  friend class StreamBackend;
  explicit constexpr KernelBlock(std::uint32_t number) noexcept : number_(number) {}
  std::uint32_t number_;
};

/// Elements in the memory of a device, on the CPU device too. It can be cut, handed on and named to kernels and copies.
/// The host cannot read it: when a stage has it, the device is still copying. A CPU kernel can, by its block.
///
/// Shape:   size() elements, side by side.
/// Threads: any; it is copied like a pointer and owns nothing.
template <class T>
class DeviceSpan {
 public:
  constexpr DeviceSpan() noexcept = default;
  /// Memory with an address that means something to the device, such as DeviceMemory::bytes.
  constexpr DeviceSpan(T* address, std::size_t size) noexcept : address_(address), size_(size) {}
  // A launcher may be given any of these without a cast: none of them lets the host read more than it could.
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

  /// Where the device sees the first element: an argument of a CUDA kernel. The host must not read through it.
  constexpr T* address() const noexcept { return address_; }
  /// The elements themselves, in a CPU kernel.
  constexpr std::span<T> in(KernelBlock) const noexcept { return {address_, size_}; }

 private:
  T* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace penstock
