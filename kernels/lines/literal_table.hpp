// SPDX-License-Identifier: Apache-2.0
// The table of a set of literals, and the search in it, the same on CPU and GPU.
#pragma once

#include <cstdint>

// These functions are only for the GPU in a CUDA source.
#ifdef __CUDACC__
#define PENSTOCK_LOOKS_THERE __device__
#else
#define PENSTOCK_LOOKS_THERE
#endif

namespace penstock {

/// Size of a table's filter in words. A block of GPU threads keeps the filter beside its text. More literals set more
/// bits; look-ups stay exact.
inline constexpr std::uint32_t literal_filter_words = 4096;

/// Part of a literal by which it is searched for: eight bytes if it has as many, or else four, or else its first byte.
/// Windows of eight bytes are searched for only at each `LiteralHeader::stride`-th byte, and a literal has as many
/// consecutive ones.
enum class LiteralWindow : std::uint32_t { eight, four, one };

/// One window of a literal. The entries of one bucket are consecutive.
struct LiteralEntry {
  std::uint32_t hash = 0;    ///< Hash of its window.
  std::uint32_t text = 0;    ///< Offset of the literal in the table's texts.
  std::uint32_t length = 0;  ///< Length in bytes.
  std::uint32_t before = 0;  ///< Number of its bytes before its window.
  LiteralWindow window = LiteralWindow::eight;
};

/// Head of a table. Offsets count from its beginning, in bytes.
struct LiteralHeader {
  std::uint32_t stride = 1;         ///< A power of two.
  std::uint32_t buckets = 0;        ///< A power of two.
  std::uint32_t filter = 0;         ///< Offset of the words in which each window has two bits.
  std::uint32_t bucket_begins = 0;  ///< Offset of the number of the first entry of each bucket, and one more.
  std::uint32_t entries = 0;
  std::uint32_t texts = 0;
  std::uint32_t windows = 0;          ///< A bit for each kind of window that a literal has.
  std::uint32_t first_bytes[8] = {};  ///< A bit for each byte that a window of one byte is.
  std::uint32_t children = 0;         ///< Offset of the array that LiteralTrie has; the same holds for the next two.
  std::uint32_t failures = 0;
  std::uint32_t bytes = 0;
};

/// The window's hash. Its highest bits depend on all of its bytes.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t hash_of_eight(std::uint32_t low, std::uint32_t high) {
  std::uint32_t const mixed = low * 0x9E3779B1U + high * 0x85EBCA77U;
  return mixed ^ mixed >> 15U;
}
PENSTOCK_LOOKS_THERE constexpr std::uint32_t hash_of_four(std::uint32_t low) {
  std::uint32_t const mixed = low * 0xC2B2AE3DU + 0x27D4EB2FU;
  return mixed ^ mixed >> 15U;
}
PENSTOCK_LOOKS_THERE constexpr std::uint32_t hash_of_one(unsigned char byte) {
  return (byte + 1U) * 0x9E3779B1U;
}
PENSTOCK_LOOKS_THERE constexpr std::uint32_t word_of(std::uint32_t hash) {
  return (hash >> 10U) & (literal_filter_words - 1U);
}
/// The bits of a window in its word.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t bits_of(std::uint32_t hash) {
  return std::uint32_t{1} << (hash & 31U) | std::uint32_t{1} << (hash >> 5U & 31U);
}
PENSTOCK_LOOKS_THERE constexpr std::uint32_t bucket_of(std::uint32_t hash, std::uint32_t buckets) {
  return (hash * 0x2C1B3C6DU >> 8U) & (buckets - 1U);
}

/// The child of a node for this byte; 0 if there is none. `children` and `bytes` are those of LiteralTrie.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t child_of(std::uint32_t const* children, unsigned char const* bytes,
                                                      std::uint32_t node, unsigned char byte) {
  std::uint32_t first = children[node], last = children[node + 1];
  std::uint32_t const behind = last;
  while (first < last) {
    std::uint32_t const middle = first + (last - first) / 2;
    if (bytes[middle] < byte) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first < behind && bytes[first] == byte ? first : 0;
}

/// Number of bytes that may still be compared before the automaton is used. The automaton takes a text byte by byte, in
/// a time that does not depend on the literals; otherwise many literals may be compared at each byte of a text that is
/// much like them.
struct LiteralSteps {
  std::int32_t left = 0;  ///< Bytes of literals; negative: there were too few, and a find may be wrong.
};

/// A table in memory that a kernel can read.
struct LiteralTable {
  unsigned char const* bytes = nullptr;

  PENSTOCK_LOOKS_THERE LiteralHeader const& header() const { return *reinterpret_cast<LiteralHeader const*>(bytes); }
  PENSTOCK_LOOKS_THERE std::uint32_t const* filter() const { return words(header().filter); }
  PENSTOCK_LOOKS_THERE bool begins_short(unsigned char byte) const {
    return (header().first_bytes[byte / 32] >> byte % 32 & 1U) != 0;
  }
  /// True if text[begin..end) contains a literal whose window begins at `at` and has this hash, or if the steps did not
  /// suffice to tell.
  PENSTOCK_LOOKS_THERE bool finds(char const* text, std::uint64_t begin, std::uint64_t end, std::uint64_t at,
                                  LiteralWindow window, std::uint32_t hash, LiteralSteps& steps) const {
    if (steps.left < 0) return true;
    LiteralHeader const& all = header();
    std::uint32_t const* const bucket = words(all.bucket_begins) + bucket_of(hash, all.buckets);
    auto const* const entries = reinterpret_cast<LiteralEntry const*>(begin_at(all.entries));
    for (std::uint32_t k = bucket[0]; k < bucket[1]; ++k) {
      LiteralEntry const entry = entries[k];
      if (entry.hash != hash || entry.window != window || at - begin < entry.before) continue;
      std::uint64_t const first = at - entry.before;
      if (end - first < entry.length) continue;
      unsigned char const* const literal = begin_at(all.texts) + entry.text;
      auto const enough = static_cast<std::uint32_t>(steps.left) + 1;
      std::uint32_t const most = entry.length < enough ? entry.length : enough;
      std::uint32_t same = 0;
      while (same < most && static_cast<unsigned char>(text[first + same]) == literal[same]) ++same;
      if (same == entry.length) return true;
      steps.left -= static_cast<std::int32_t>(same) + 1;
      if (steps.left < 0) return true;
    }
    return false;
  }
  /// Follows this byte from a node of the automaton.
  PENSTOCK_LOOKS_THERE std::uint32_t next_node(std::uint32_t node, unsigned char byte) const {
    LiteralHeader const& all = header();
    for (;;) {
      std::uint32_t const child = child_of(words(all.children), begin_at(all.bytes), node, byte);
      if (child != 0 || node == 0) return child;
      node = words(all.failures)[node];
    }
  }
  /// True if a literal ends at this node, since none contains another one.
  PENSTOCK_LOOKS_THERE bool is_literal(std::uint32_t node) const {
    std::uint32_t const* const children = words(header().children) + node;
    return children[0] == children[1];
  }

 private:
  PENSTOCK_LOOKS_THERE unsigned char const* begin_at(std::uint32_t place) const { return bytes + place; }
  PENSTOCK_LOOKS_THERE std::uint32_t const* words(std::uint32_t place) const {
    return reinterpret_cast<std::uint32_t const*>(bytes + place);
  }
};

/// The bit of a window in a set of windows.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t as_bit(LiteralWindow window) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(window);
}
/// The members of `windows` that may begin at this byte of a text.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t windows_at(std::uint64_t at, std::uint32_t windows, std::uint32_t stride) {
  return (at & (stride - 1)) == 0 ? windows : windows & ~as_bit(LiteralWindow::eight);
}

/// True if a window of a literal begins at `at`, where eight bytes are, and the literal is in text[begin..end), or if
/// the steps did not suffice to tell. `filter` is the table's, or a copy in faster memory.
PENSTOCK_LOOKS_THERE inline bool literal_at(LiteralTable const& table, std::uint32_t const* filter,
                                            std::uint32_t windows, std::uint32_t low, std::uint32_t high,
                                            char const* text, std::uint64_t begin, std::uint64_t end, std::uint64_t at,
                                            LiteralSteps& steps) {
  auto const passes = [=](std::uint32_t hash) {
    std::uint32_t const bits = bits_of(hash);
    return (filter[word_of(hash)] & bits) == bits;
  };
  if ((windows & as_bit(LiteralWindow::eight)) != 0) {
    std::uint32_t const hash = hash_of_eight(low, high);
    if (passes(hash) && table.finds(text, begin, end, at, LiteralWindow::eight, hash, steps)) return true;
  }
  if ((windows & as_bit(LiteralWindow::four)) != 0) {
    std::uint32_t const hash = hash_of_four(low);
    if (passes(hash) && table.finds(text, begin, end, at, LiteralWindow::four, hash, steps)) return true;
  }
  if ((windows & as_bit(LiteralWindow::one)) != 0) {
    auto const byte = static_cast<unsigned char>(low & 0xFFU);
    if (table.begins_short(byte) && table.finds(text, begin, end, at, LiteralWindow::one, hash_of_one(byte), steps)) {
      return true;
    }
  }
  return false;
}

}  // namespace penstock
