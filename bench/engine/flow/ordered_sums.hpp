// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

constexpr std::size_t keys = 8;

/// State that a stage keeps of the tiles that it saw: for each key the sequence that may come next and the sum, and the
/// number of tiles that came behind one of a higher sequence.
struct OrderedSums {
  std::array<std::uint64_t, keys> next{};
  std::array<std::uint64_t, keys> sum{};
  std::uint64_t out_of_order = 0;
};

/// Adds a tile's numbers to `sums`, which lie on the GPU, by a kernel of one block. Null: adds them and keeps nothing.
///
/// False if CUDA refuses.
bool add_in_order(OrderedSums* sums, std::uint32_t const* numbers, std::size_t count, std::uint64_t key,
                  std::uint64_t sequence, void* stream);
/// Resets the sums.
bool clear(OrderedSums* sums, void* stream);
/// Reads sums on the GPU that no kernel uses any more.
std::uint64_t out_of_order(OrderedSums const* sums);
