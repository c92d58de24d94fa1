// SPDX-License-Identifier: Apache-2.0
#include "kernels/blake3/blake3_reference.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace penstock::support {
namespace {

using Value = std::array<std::uint32_t, 8>;
using Block = std::array<std::uint32_t, 16>;

constexpr Value initial{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
enum : std::uint32_t { chunk_start = 1, chunk_end = 2, parent = 4, root = 8 };

std::uint32_t turn(std::uint32_t word, unsigned bits) {
  return (word >> bits) + (word << (32 - bits));
}

void quarter(Block& v, std::array<std::size_t, 4> at, std::uint32_t x, std::uint32_t y) {
  auto const [a, b, c, d] = at;
  v[a] = v[a] + v[b] + x;
  v[d] = turn(v[d] ^ v[a], 16);
  v[c] = v[c] + v[d];
  v[b] = turn(v[b] ^ v[c], 12);
  v[a] = v[a] + v[b] + y;
  v[d] = turn(v[d] ^ v[a], 8);
  v[c] = v[c] + v[d];
  v[b] = turn(v[b] ^ v[c], 7);
}

Value compress(Value const& h, Block m, std::uint64_t counter, std::size_t length, std::uint32_t flags) {
  Block v{h[0],
          h[1],
          h[2],
          h[3],
          h[4],
          h[5],
          h[6],
          h[7],
          initial[0],
          initial[1],
          initial[2],
          initial[3],
          static_cast<std::uint32_t>(counter & 0xFFFFFFFF),
          static_cast<std::uint32_t>(counter >> 32),
          static_cast<std::uint32_t>(length),
          flags};
  for (int round = 0; round < 7; ++round) {
    quarter(v, {0, 4, 8, 12}, m[0], m[1]);
    quarter(v, {1, 5, 9, 13}, m[2], m[3]);
    quarter(v, {2, 6, 10, 14}, m[4], m[5]);
    quarter(v, {3, 7, 11, 15}, m[6], m[7]);
    quarter(v, {0, 5, 10, 15}, m[8], m[9]);
    quarter(v, {1, 6, 11, 12}, m[10], m[11]);
    quarter(v, {2, 7, 8, 13}, m[12], m[13]);
    quarter(v, {3, 4, 9, 14}, m[14], m[15]);
    m = {m[2], m[6], m[3], m[10], m[7], m[0], m[4], m[13], m[1], m[11], m[12], m[5], m[9], m[14], m[15], m[8]};
  }
  Value out;
  for (std::size_t i = 0; i < 8; ++i) out[i] = v[i] ^ v[i + 8];
  return out;
}

Value chunk(std::span<std::byte const> input, std::uint64_t number, bool is_root) {
  Value h = initial;
  std::size_t const blocks = input.empty() ? 1 : (input.size() + 63) / 64;
  for (std::size_t block = 0; block < blocks; ++block) {
    auto const bytes = input.subspan(block * 64, std::min<std::size_t>(64, input.size() - block * 64));
    Block m{};
    for (std::size_t i = 0; i < bytes.size(); ++i) m[i / 4] |= std::to_integer<std::uint32_t>(bytes[i]) << (i % 4 * 8);
    std::uint32_t flags = 0;
    if (block == 0) flags += chunk_start;
    if (block == blocks - 1) flags += is_root ? chunk_end + root : std::uint32_t{chunk_end};
    h = compress(h, m, number, bytes.size(), flags);
  }
  return h;
}

Value tree(std::span<std::byte const> input, std::uint64_t first_chunk, bool is_root) {
  if (input.size() <= 1024) return chunk(input, first_chunk, is_root);
  std::size_t left = 1024;
  while (left * 2 < input.size()) left *= 2;
  Value const low = tree(input.first(left), first_chunk, false);
  Value const high = tree(input.subspan(left), first_chunk + left / 1024, false);
  Block m;
  std::copy(low.begin(), low.end(), m.begin());
  std::copy(high.begin(), high.end(), m.begin() + 8);
  return compress(initial, m, 0, 64, is_root ? parent + root : std::uint32_t{parent});
}

}  // namespace

std::string blake3_reference(std::span<std::byte const> input) {
  std::string hex;
  for (std::uint32_t word : tree(input, 0, true)) {
    for (int byte = 0; byte < 4; ++byte, word >>= 8) {
      hex += "0123456789abcdef"[word >> 4 & 15];
      hex += "0123456789abcdef"[word & 15];
    }
  }
  return hex;
}

std::vector<std::byte> noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() >> 56);
  return bytes;
}

}  // namespace penstock::support
