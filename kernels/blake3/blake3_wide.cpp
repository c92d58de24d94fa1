// SPDX-License-Identifier: Apache-2.0
#include "kernels/blake3/blake3_wide.hpp"

#include <array>
#include <cstring>

#include "penstock/kernels.hpp"

namespace penstock {
namespace {

void put(Blake3Node const& node, std::byte* value) {
  Blake3Value const words = blake3_value(node);
  std::memcpy(value, words.data(), blake3_value_bytes);
}

void chunks(std::byte const* input, std::size_t count, std::uint64_t first_chunk, std::byte* values) {
  for (std::size_t i = 0; i < count; ++i) {
    put(blake3_chunk({input + i * blake3_chunk_bytes, blake3_chunk_bytes}, first_chunk + i),
        values + i * blake3_value_bytes);
  }
}

void parents(std::byte const* pairs, std::size_t count, std::byte* values) {
  for (std::size_t i = 0; i < count; ++i) {
    std::array<Blake3Value, 2> pair;
    std::memcpy(pair.data(), pairs + i * blake3_block_bytes, blake3_block_bytes);
    put(blake3_parent(pair[0], pair[1]), values + i * blake3_value_bytes);
  }
}

}  // namespace

constinit Blake3Width const blake3_one{.width = 1, .name = "1", .chunks = chunks, .parents = parents};

std::span<Blake3Width const> blake3_widths() noexcept {
#if defined(__x86_64__)
  static Blake3Width const all[4] = {blake3_one, blake3_four, blake3_eight, blake3_sixteen};
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.1")) return {all, 1};
  if (!__builtin_cpu_supports("avx2")) return {all, 2};
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl")) return {all, 3};
  return {all, 4};
#else
  static Blake3Width const all[2] = {blake3_one, blake3_four};
  return all;
#endif
}

}  // namespace penstock
