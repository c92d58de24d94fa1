// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock {

inline constexpr std::uint32_t blake3_start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// Index of the message word that round `round` mixes in as its `slot`-th.
constexpr std::size_t blake3_schedule(std::size_t round, std::size_t slot) {
  std::size_t const next[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
  return round == 0 ? slot : next[blake3_schedule(round - 1, slot)];
}

/// The words of one compression; GPU compilers also make one instruction of its rotation.
struct Blake3OneWord {
  using Word = std::uint32_t;
  template <int n>
  static constexpr Word rotate(Word word) {
    return (word >> n) | (word << (32 - n));
  }
};

/// BLAKE3's seven rounds over whatever a `Machine` calls a word: one 32-bit word of one compression, or of many at
/// once.
///
/// A Machine has a type `Word` with + and ^, and `rotate<n>(word)`, which turns each 32-bit word right by n.
/// Everything is constexpr so that GPU code may call it too.
template <class Machine>
struct Blake3Rounds {
  using Word = typename Machine::Word;

  /// Mixes the message `m` into the state `v`, in place.
  ///
  /// Shape: v and m have 16 words.
  [[gnu::always_inline]] static constexpr void mix(Word* v, Word const* m) {
    round<0>(v, m);
    round<1>(v, m);
    round<2>(v, m);
    round<3>(v, m);
    round<4>(v, m);
    round<5>(v, m);
    round<6>(v, m);
  }

 private:
  template <std::size_t number, std::size_t slot>
  [[gnu::always_inline]] static constexpr Word const& message(Word const* m) {
    constexpr std::size_t word = blake3_schedule(number, slot);
    return m[word];
  }

  /// Does four quarter rounds side by side, step by step, so that a processor always finds four independent operations.
  template <std::size_t turn, int first, int second>
  [[gnu::always_inline]] static constexpr void half(Word* v, Word const& m0, Word const& m1, Word const& m2,
                                                    Word const& m3) {
    // The diagonals (turn = 1) take columns b, c, d one, two, three places further.
    constexpr std::size_t b[4] = {4 + (0 + turn) % 4, 4 + (1 + turn) % 4, 4 + (2 + turn) % 4, 4 + (3 + turn) % 4};
    constexpr std::size_t c[4] = {8 + (0 + 2 * turn) % 4, 8 + (1 + 2 * turn) % 4, 8 + (2 + 2 * turn) % 4,
                                  8 + (3 + 2 * turn) % 4};
    constexpr std::size_t d[4] = {12 + (0 + 3 * turn) % 4, 12 + (1 + 3 * turn) % 4, 12 + (2 + 3 * turn) % 4,
                                  12 + (3 + 3 * turn) % 4};
    v[0] += m0;
    v[1] += m1;
    v[2] += m2;
    v[3] += m3;
    v[0] += v[b[0]];
    v[1] += v[b[1]];
    v[2] += v[b[2]];
    v[3] += v[b[3]];
    v[d[0]] ^= v[0];
    v[d[1]] ^= v[1];
    v[d[2]] ^= v[2];
    v[d[3]] ^= v[3];
    v[d[0]] = Machine::template rotate<first>(v[d[0]]);
    v[d[1]] = Machine::template rotate<first>(v[d[1]]);
    v[d[2]] = Machine::template rotate<first>(v[d[2]]);
    v[d[3]] = Machine::template rotate<first>(v[d[3]]);
    v[c[0]] += v[d[0]];
    v[c[1]] += v[d[1]];
    v[c[2]] += v[d[2]];
    v[c[3]] += v[d[3]];
    v[b[0]] ^= v[c[0]];
    v[b[1]] ^= v[c[1]];
    v[b[2]] ^= v[c[2]];
    v[b[3]] ^= v[c[3]];
    v[b[0]] = Machine::template rotate<second>(v[b[0]]);
    v[b[1]] = Machine::template rotate<second>(v[b[1]]);
    v[b[2]] = Machine::template rotate<second>(v[b[2]]);
    v[b[3]] = Machine::template rotate<second>(v[b[3]]);
  }

  template <std::size_t number>
  [[gnu::always_inline]] static constexpr void round(Word* v, Word const* m) {
    half<0, 16, 12>(v, message<number, 0>(m), message<number, 2>(m), message<number, 4>(m), message<number, 6>(m));
    half<0, 8, 7>(v, message<number, 1>(m), message<number, 3>(m), message<number, 5>(m), message<number, 7>(m));
    half<1, 16, 12>(v, message<number, 8>(m), message<number, 10>(m), message<number, 12>(m), message<number, 14>(m));
    half<1, 8, 7>(v, message<number, 9>(m), message<number, 11>(m), message<number, 13>(m), message<number, 15>(m));
  }
};

}  // namespace penstock
