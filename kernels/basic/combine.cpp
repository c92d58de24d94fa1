// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/combine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Bytes of one CPU block: some 50 us of work, most of it memory's.
constexpr std::size_t cpu_grain = 256 * std::size_t{1024};

void expect_elements(std::size_t bytes, ElementType type) {
  if (bytes % element_bytes(type) == 0) return;
  throw Error(ErrorKind::bad_argument, std::to_string(bytes) + " bytes are no whole elements of " +
                                           std::to_string(element_bytes(type)) + " bytes.");
}

void expect_fitting(std::size_t from, std::size_t into, ElementType type) {
  if (from != into) {
    throw Error(ErrorKind::bad_argument, "combine reads " + std::to_string(from) + " bytes and writes " +
                                             std::to_string(into) + ": give spans of one length.");
  }
  expect_elements(into, type);
}

template <class Element>
Element combined(Element one, Element other, ReduceOperation operation) {
  switch (operation) {
    case ReduceOperation::min:
      return std::min(one, other);
    case ReduceOperation::max:
      return std::max(one, other);
    case ReduceOperation::sum:
      break;
  }
  if constexpr (std::is_integral_v<Element>) {
    using Wrapping = std::make_unsigned_t<Element>;
    return static_cast<Element>(static_cast<Wrapping>(one) + static_cast<Wrapping>(other));
  } else {
    return one + other;
  }
}

template <class Element>
Element identity(ReduceOperation operation) {
  using Limits = std::numeric_limits<Element>;
  if (operation == ReduceOperation::sum) return Element{0};
  if (operation == ReduceOperation::min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

}  // namespace

void combine_on_host(std::span<std::byte const> from, std::span<std::byte> into, ElementType type,
                     ReduceOperation operation) {
  expect_fitting(from.size(), into.size(), type);
  with_element_type(type, [&]<class Element>(Element) {
    auto const* const read = reinterpret_cast<Element const*>(from.data());
    auto* const written = reinterpret_cast<Element*>(into.data());
    std::size_t const count = into.size() / sizeof(Element);
    for (std::size_t i = 0; i < count; ++i) written[i] = combined(written[i], read[i], operation);
  });
}

void fill_with_identity(std::span<std::byte> host, ElementType type, ReduceOperation operation) {
  expect_elements(host.size(), type);
  with_element_type(type, [&]<class Element>(Element) {
    Element const value = identity<Element>(operation);
    for (std::size_t at = 0; at < host.size(); at += sizeof value) std::memcpy(&host[at], &value, sizeof value);
  });
}

void combine(DeviceSpan<std::byte const> from, DeviceSpan<std::byte> into, ElementType type, ReduceOperation operation,
             StreamRef stream) {
  expect_fitting(from.size(), into.size(), type);
  if (into.empty()) return;
  if (stream.kind() == DeviceKind::cuda) return combine_cuda(from, into, type, operation, stream.native());
  auto const blocks = static_cast<std::uint32_t>((into.size() + cpu_grain - 1) / cpu_grain);
  stream.launch(blocks,
                [=](KernelBlock block) {
                  std::size_t const begin = block * cpu_grain;
                  std::size_t const bytes = std::min(cpu_grain, into.size() - begin);
                  combine_on_host(from.in(block).subspan(begin, bytes), into.in(block).subspan(begin, bytes), type,
                                  operation);
                },
                {.reads = {from, into}, .writes = into});
}

void combine_prepare(ElementType type, ReduceOperation operation, StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) combine_prepare_cuda(type, operation);
}

}  // namespace penstock
