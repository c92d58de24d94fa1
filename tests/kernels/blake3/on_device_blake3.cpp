// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/blake3/blake3_reference.hpp"
#include "kernels/blake3/blake3_subtree.hpp"
#include "kernels/kernels_on_device.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

constexpr std::size_t largest_tile = std::size_t{4} << 20;

/// Hashes on a device, with one set of device memory that every tile uses again.
class Hasher {
 public:
  explicit Hasher(KernelsOn& on) : on_(on) { blake3_prepare(on.stream()); }

  Blake3Node tile(std::span<std::byte const> bytes, std::uint64_t first_chunk) {
    if (!bytes.empty()) on_.upload(input_, bytes);
    blake3_tile(input_.first(bytes.size()), first_chunk, node_, scratch_, on_.stream());
    Blake3Node result;
    on_.download(std::as_writable_bytes(std::span(&result, 1)), node_);
    return result;
  }

  /// Last tile first.
  std::string digest(std::span<std::byte const> file, std::size_t tile_bytes) {
    Blake3Tree tree;
    std::size_t const tiles = std::max<std::size_t>((file.size() + tile_bytes - 1) / tile_bytes, 1);
    for (std::size_t i = tiles; i-- > 0;) {
      std::size_t const start = i * tile_bytes;
      tree.add(i, tile(file.subspan(start, std::min(tile_bytes, file.size() - start)), start / blake3_chunk_bytes));
    }
    return blake3_hex(tree.finish(tiles));
  }

 private:
  KernelsOn& on_;
  std::span<std::byte> input_ = on_.memory(largest_tile);
  std::span<std::byte> node_ = on_.memory(sizeof(Blake3Node));
  std::span<std::byte> scratch_ = on_.memory(blake3_scratch_bytes(largest_tile));
};

TEST_P(KernelsOn, GiveTheBlake3DigestOfFilesOfOneTile) {
  Hasher hasher(*this);
  auto const bytes = support::noise(largest_tile);
  for (std::size_t const size : std::initializer_list<std::size_t>{0,
                                                                   1,
                                                                   63,
                                                                   64,
                                                                   65,
                                                                   127,
                                                                   128,
                                                                   1023,
                                                                   1024,
                                                                   1025,
                                                                   2048,
                                                                   3 * 1024,
                                                                   31 * 1024,
                                                                   65'535,
                                                                   65'536,
                                                                   65'537,
                                                                   128 * 1024,
                                                                   128 * 1024 + 1,
                                                                   129 * 1024,
                                                                   200'000,
                                                                   5 * 128 * 1024 + 700,
                                                                   1 << 20,
                                                                   (1 << 20) + 1,
                                                                   4 << 20}) {
    std::span const file = std::span(bytes).first(size);
    EXPECT_EQ(hasher.digest(file, largest_tile), support::blake3_reference(file)) << size << " bytes";
  }
}

TEST_P(KernelsOn, GiveOneBlake3DigestForEveryTileSize) {
  Hasher hasher(*this);
  auto const bytes = support::noise(2 * largest_tile + 12'345);
  for (std::size_t const size : {std::size_t{1} << 20, 2 * largest_tile, 2 * largest_tile + 1, bytes.size()}) {
    std::span const file = std::span(bytes).first(size);
    std::string const expected = support::blake3_reference(file);
    for (std::size_t const tile_bytes : {std::size_t{64} << 10, std::size_t{1} << 20, largest_tile}) {
      EXPECT_EQ(hasher.digest(file, tile_bytes), expected) << size << " bytes in tiles of " << tile_bytes;
    }
  }
}

TEST_P(KernelsOn, LeaveTheBlake3NodeThatTheHostWouldCompute) {
  Hasher hasher(*this);
  auto const bytes = support::noise(1 << 20);
  constexpr std::uint64_t first_chunk = std::uint64_t{5} << 32;
  for (std::size_t const size : std::initializer_list<std::size_t>{1, 1000, 1024, 1025, 65'536, 1'000'000, 1 << 20}) {
    std::span const part = std::span(bytes).first(size);
    EXPECT_EQ(hasher.tile(part, first_chunk), blake3_subtree(part, first_chunk)) << size << " bytes";
  }
}

TEST_P(KernelsOn, HashNothingBehindTheTile) {
  Hasher hasher(*this);
  auto const bytes = support::noise(2048);
  hasher.tile(support::noise(largest_tile, 2), 0);  // Fills the device memory with something else.
  std::span const file = std::span(bytes).first(1500);
  EXPECT_EQ(hasher.digest(file, largest_tile), support::blake3_reference(file));
}

}  // namespace
}  // namespace penstock
